import * as assert from 'uvu/assert';
import { RateLimiterGroup, slidingWindow } from '../../src/index.ts';
import { withOptions } from '../support/anyClient.ts';
import { lostTime } from '../support/lostTime.ts';
import { until } from '../support/until.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: a group');
const lazy = { lazyConnect: true };

test('shares one circuit among the limiters of a group: the others neither wait nor call', async ({
  server,
  connect,
}) => {
  await server.start();
  const redis = connect();
  const group = new RateLimiterGroup({
    name: 'group',
    limit: slidingWindow({ permits: 4, interval: 60_000 }),
    redis,
    fallback: { timeout: 1_000, cooldown: 300 },
  });
  const sourceOf = async (key: string) => (await group.get(key).acquire()).source;
  assert.equal(await Promise.all(['a', 'b'].map(sourceOf)), ['redis', 'redis']);
  server.freeze();
  assert.is(await sourceOf('a'), 'fallback');
  const lost = lostTime();
  const since = performance.now();
  // Each key has its own part of the limit.
  const permits = ['b', 'b', 'c', 'c', 'd', 'd'].map(sourceOf);
  assert.equal(new Set(await Promise.all(permits)), new Set(['fallback']));
  assert.ok(performance.now() - since < 800 + lost());
  assert.not(await group.get('b').tryAcquire());
  server.thaw();
  await until('Redis serves one', async () => (await sourceOf('e')) === 'redis');
  assert.is(await sourceOf('a'), 'redis');
  await group.close();
  assert.is(redis.listenerCount('ready'), 0);
});

withOptions(test, lazy)(
  'adds one listener to the connection for a thousand waiting keys',
  async ({ server, connect }) => {
    const redis = connect(lazy);
    const group = new RateLimiterGroup({
      name: 'group',
      limit: slidingWindow({ permits: 4, interval: 60_000 }),
      redis,
      fallback: { timeout: 10_000 },
    });
    await server.start();
    const before = redis.listenerCount('ready');
    const all = Promise.all(Array.from({ length: 1000 }, (_, i) => group.get(String(i)).acquire()));
    await Promise.resolve();
    await new Promise((resolve) => process.nextTick(resolve));
    assert.ok(redis.listenerCount('ready') <= before + 2);
    assert.ok((await all).every(({ source }) => source === 'redis'));
    await group.close();
    assert.is(redis.listenerCount('ready'), before);
  },
);

test.run();
