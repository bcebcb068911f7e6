import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { redissonKeys } from '../support/redissonKeys.ts';
import { redissonSuite } from './redissonSuite.ts';

const test = redissonSuite('keys');

const minute = 60_000;
const clientId = 'c0ffee';

const names = ['api', 'api{eu}:calls', 'half{open', 'closed}', '::', 'é€😀'];

for (const name of names)
  test(`a limiter named ${name} uses Redisson's keys`, async ({ ours, redis }) => {
    const limiter = ours({ name, clientId });
    const keys = redissonKeys(name, clientId);
    await limiter.setRate(RateType.OVERALL, 10, minute);
    await limiter.acquire();
    assert.equal((await redis.keys('*')).sort(), [keys.config, keys.value, keys.permits].sort());
    await limiter.setRate(RateType.PER_CLIENT, 10, minute);
    await limiter.acquire();
    assert.equal((await redis.keys('*')).sort(), [keys.config, keys.clientValue, keys.clientPermits].sort());
    assert.ok(await limiter.delete());
    assert.is(await redis.dbsize(), 0);
  });

test('the config has the four fields of Redisson 4', async ({ ours, redis }) => {
  const limiter = ours();
  const { config } = redissonKeys('api');
  await limiter.trySetRate(RateType.PER_CLIENT, 10, minute);
  const fields = { rate: '10', interval: '60000', type: '1', keepAliveTime: '0' };
  assert.equal({ ...(await redis.hgetall(config)) }, fields);
  await limiter.setRate(RateType.OVERALL, 20, minute, { keepAlive: 2 * minute });
  const changed = { rate: '20', interval: '60000', type: '0', keepAliveTime: '120000' };
  assert.equal({ ...(await redis.hgetall(config)) }, changed);
});

test('a member is the permits and 16 random bytes with their length', async ({ ours, redis }) => {
  const limiter = ours();
  await limiter.setRate(RateType.OVERALL, 1_000_000, minute);
  const weights = [1, 128, 300, 65_791];
  for (const weight of weights) await limiter.acquire(weight);
  const members = await redis.zrangeBuffer(redissonKeys('api').permits, '0', '-1');
  assert.equal(
    members.map((member) => [member.length, member[0]]),
    Array(weights.length).fill([21, 16]),
  );
  assert.equal(
    members.map((member) => member.readUInt32LE(17)).sort((a, b) => a - b),
    weights,
  );
  assert.is(new Set(members.map((member) => member.toString('hex', 1, 17))).size, weights.length);
});

for (const type of [RateType.OVERALL, RateType.PER_CLIENT]) {
  test(`a JVM client continues with our state (type ${type})`, async ({ ours, jvm }) => {
    const limiter = ours({ clientId });
    await limiter.setRate(type, 10, minute);
    await limiter.acquire(3);
    await limiter.acquire(4);
    const client = jvm({ clientId });
    assert.is(await client.availablePermits(), 3);
    assert.ok(await client.tryAcquire(3));
    assert.not(await limiter.tryAcquire());
  });

  test(`we continue with the state of a JVM client (type ${type})`, async ({ ours, jvm }) => {
    const client = jvm({ clientId });
    await client.setRate(type, 10, minute);
    await client.acquire(3);
    await client.acquire(4);
    const limiter = ours({ clientId });
    assert.is(await limiter.availablePermits(), 3);
    assert.ok(await limiter.tryAcquire(3));
    assert.not(await client.tryAcquire());
  });
}

test('reads a limiter of a version without keep-alive', async ({ ours, redis }) => {
  await redis.hset('api', 'rate', '10', 'interval', `${minute}`, 'type', '0');
  const limiter = ours();
  assert.ok(await limiter.tryAcquire(4));
  assert.is(await limiter.availablePermits(), 6);
  assert.is(await limiter.remainTimeToLive(), -1);
});

test('each connection is a separate client by default', async ({ ours }) => {
  const [a, b, named, again] = [ours(), ours(), ours({ clientId }), ours({ clientId })];
  await a.setRate(RateType.PER_CLIENT, 5, minute);
  assert.ok(await a.tryAcquire(5));
  assert.ok(await b.tryAcquire(5));
  assert.ok(await named.tryAcquire(5));
  assert.not(await again.tryAcquire());
});

test.run();
