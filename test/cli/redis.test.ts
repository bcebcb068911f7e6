import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { endAll, momentsOf, numbered, shortestOver, sluice, start } from './sluice.ts';

let server: RedisServer;
test.before(async () => {
  server = await startRedis();
});
test.after.each(endAll);
test.after(() => server.stop());

test('two commands share one limit', async () => {
  const args = ['--limit=20', '--interval=300', '--name=shared', `--redis=${server.url}`, '--timestamps'];
  const runs = await Promise.all([sluice(args, numbered(60, 'a')), sluice(args, numbered(60, 'b'))]);
  for (const [i, { code, stdout, stderr }] of runs.entries()) {
    assert.equal([code, stderr], [0, '']);
    assert.is(stdout.replaceAll(/^\d{13}\t/gm, ''), numbered(60, 'ab'[i]));
  }
  const moments = runs.flatMap(({ stdout }) => momentsOf(stdout));
  assert.ok(shortestOver(moments, 20) >= 300, 'never over');
});

test('SIGINT refunds reservations', async () => {
  const interval = 800;
  const limit = slidingWindow({ permits: 5, interval });
  const args = [
    '--limit=5',
    `--interval=${interval}`,
    '--name=left',
    `--redis=${server.url}`,
    '--timestamps',
  ];
  const { child, ended, wrote } = start(args);
  child.stdin.write(numbered(100));
  await wrote(5);
  await sleep(100);
  child.kill('SIGINT');
  const { code, stdout } = await ended;
  assert.is(code, 130);
  const moments = momentsOf(stdout);
  await sleep(Math.max(0, moments[4] + interval + 20 - Date.now()));
  const redis = new Redis(server.url);
  const limiter = new RateLimiter({ name: 'left', limit, redis });
  assert.is(await limiter.availablePermits(), 10 - moments.length);
  redis.disconnect();
});

test('a second signal of another kind ends it at once, although Redis does not reply', async () => {
  const frozen = await startRedis();
  const { child, ended, wrote } = start(['--limit=5', '--interval=60000', `--redis=${frozen.url}`]);
  child.stdin.write(numbered(10));
  await wrote(5);
  frozen.freeze();
  child.kill('SIGINT');
  await sleep(100);
  const sent = performance.now();
  child.kill('SIGTERM');
  await ended;
  // Closing waits for a second.
  assert.ok(performance.now() - sent < 500, `${performance.now() - sent} ms`);
  await frozen.stop();
});

test('a key of the wrong type ends it with 1 and one line', async () => {
  await server.command('RPUSH', '{sluice:wrong}', 'x');
  const { code, stdout, stderr } = await sluice(['--limit=5', '--name=wrong'], 'a\n', {
    REDIS_URL: server.url,
  });
  assert.equal([code, stdout], [1, '']);
  assert.match(stderr, /^sluice: .*found a value of another type; reset\(\) deletes it\n$/);
});

test('an unknown database ends it with 1 and one line; a known one is used', async () => {
  const args = ['--limit=5', '--name=database'];
  const refused = await sluice([...args, `--redis=${server.url}/99`], 'a\n');
  assert.equal([refused.code, refused.stdout], [1, '']);
  assert.match(refused.stderr, /^sluice: database 99 of Redis cannot be selected: .*out of range.*\n$/);
  const { code, stdout } = await sluice([...args, `--redis=${server.url}/5`], 'a\n');
  assert.equal([code, stdout], [0, 'a\n']);
  const redis = new Redis(`${server.url}/5`);
  assert.is((await redis.keys('{sluice:database}*')).length > 0, true);
  redis.disconnect();
});

test('a Redis that goes away ends it with 1 and one line', async () => {
  const own = await startRedis();
  const { child, ended, wrote } = start(['--limit=1', '--interval=100', `--redis=${own.url}`]);
  child.stdin.write(numbered(1000));
  await wrote(3);
  await own.stop();
  const { code, stderr } = await ended;
  assert.is(code, 1);
  assert.match(stderr, /^sluice: .*Redis cannot be reached.*\n$/);
});

test.run();
