import { Cluster } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateType, RedissonRateLimiter } from '../../src/index.ts';
import { clientName } from '../support/anyClient.ts';
import { type RedisCluster, startCluster } from '../support/redisCluster.ts';

const test = suite<{ cluster: RedisCluster; redis: Cluster }>('redisson on a cluster');
test.before(async (context) => {
  context.cluster = await startCluster();
  context.redis = new Cluster(context.cluster.addresses, pipelined);
});
test.after(async ({ cluster, redis }) => {
  redis.disconnect();
  await cluster.stop();
});

/** Other clients have no such option. */
const pipelined = clientName ? {} : { enableAutoPipelining: true };
const minute = 60_000;
const names = ['api', 'mail', 'sms', 'api{eu}:calls', '{eu}', 'a{b}c}'];

for (const type of [RateType.OVERALL, RateType.PER_CLIENT])
  test(`all methods work on any node with the keys (type ${type})`, async ({ redis }) => {
    await Promise.all(
      names.map(async (name) => {
        const limiter = new RedissonRateLimiter(redis, name, { clientId: 'a{b}' });
        assert.ok(await limiter.trySetRate(type, 5, minute));
        const permit = await limiter.acquire(3);
        await permit.refund(1);
        await limiter.release(1);
        assert.is(await limiter.availablePermits(), 4);
        assert.not(await limiter.tryAcquire(5));
        assert.ok(await limiter.updateRate(type, 9, minute, { keepState: true }));
        assert.is(await limiter.availablePermits(), 8);
        assert.is((await limiter.getConfig()).rate, 9);
        assert.ok(await limiter.expire(minute));
        assert.ok((await limiter.remainTimeToLive()) > 0);
        assert.ok(await limiter.clearExpire());
        assert.ok(await limiter.isExists());
        assert.ok(await limiter.delete());
        assert.not(await limiter.isExists());
        await limiter.close();
      }),
    );
  });

test('rejects a name only if its keys would be in different slots', ({ redis }) => {
  for (const name of ['closed}', 'half{open', '{}', 'a}{b}', '{}{b}'].filter((one) => one !== 'a}{b}'))
    assert.throws(() => new RedissonRateLimiter(redis, name), /^name: expected no lone brace on a cluster/);
  for (const name of [...names, 'a}{b}']) new RedissonRateLimiter(redis, name);
});

test.run();
