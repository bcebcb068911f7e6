import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateType, RedissonRateLimiter } from '../../src/index.ts';
import { sharedRedis } from '../support/sharedRedis.ts';
import { endAll, momentsOf, numbered, shortestOver, sluice } from './sluice.ts';

const shared = sharedRedis(test);
test.before.each(async () => {
  await shared.redis.flushall();
});
test.after.each(endAll);

const command = (...args: string[]) =>
  sluice(['--redisson', '--name=api', `--redis=${shared.server.url}`, '--timestamps', ...args], numbered(25));

test('--redisson passes lines at the stored rate', async () => {
  await new RedissonRateLimiter(shared.redis, 'api').setRate(RateType.OVERALL, 10, 200);
  const { code, stdout, stderr } = await command('--limit=1');
  assert.equal([code, stderr], [0, '']);
  const moments = momentsOf(stdout);
  assert.is(moments.length, 25);
  assert.ok(shortestOver(moments, 10) >= 200, 'never over');
});

test('--redisson sets the rate if none is stored', async () => {
  const { code } = await command('--limit=50', '--interval=500');
  assert.is(code, 0);
  const { type, rate, interval } = await new RedissonRateLimiter(shared.redis, 'api').getConfig();
  assert.equal([type, rate, interval], [RateType.OVERALL, 50, 500]);
});

test('--redisson without a rate anywhere ends with 1 and one line', async () => {
  const { code, stdout, stderr } = await command();
  assert.equal([code, stdout], [1, '']);
  assert.match(stderr, /^sluice: limiter "api" has no rate; .*\n$/);
});

test.run();
