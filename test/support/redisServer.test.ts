import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type RedisServer, startRedis } from './redisServer.ts';

let server: RedisServer;
test.before(async () => {
  server = await startRedis();
});
test.after(() => server.stop());

test('a server answers, and keeps nothing on disk', async () => {
  assert.is(await server.command('SET', 'a', 1), 'OK');
  assert.is(await server.command('GET', 'a'), '1');
  assert.equal(await server.command('CONFIG', 'GET', 'save'), ['save', '']);
});

test('a killed server restarts as a new and empty process on the same port', async () => {
  const { pid, port } = server;
  await server.command('SET', 'b', 1);
  await server.kill();
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
  await server.restart();
  assert.is(server.port, port);
  assert.is.not(server.pid, pid);
  assert.is(await server.command('GET', 'b'), null);
});

test('a frozen server keeps its connections and sends nothing, and answers after the thaw', async () => {
  const redis = new Redis(server.url);
  await redis.ping();
  server.freeze();
  let answered = false;
  const reply = redis.incr('c').then((value) => {
    answered = true;
    return value;
  });
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.not(answered);
  assert.is(redis.status, 'ready');
  server.thaw();
  assert.is(await reply, 1);
  redis.disconnect();
});

test('servers started at the same time have different ports', async () => {
  const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
  assert.is(new Set([server, ...servers].map(({ port }) => port)).size, 4);
  await Promise.all(servers.map((one) => one.stop()));
});

test('a server that cannot start reports its log', async () => {
  const error = await startRedis({ config: ['maxmemory-policy nonsense'] }).catch((reason) => reason);
  assert.match(String(error), 'maxmemory-policy');
});

test.run();
