// Permits that a client acquires for requests that are not made yet.
import * as assert from 'uvu/assert';
import { fixedWindow, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { redisSuite } from './redisSuite.ts';

const callers = 64;
/** No permit comes back within a test. */
const interval = 1e9;
const permits = 1_000_000;

const test = redisSuite('prefetched permits');

/** So many callers each acquire a permit after another as long as `goOn` says so. Resolves to the granted moments. */
async function repeat(limiter: RateLimiter, goOn: (granted: number) => boolean): Promise<number[]> {
  const moments: number[] = [];
  const caller = async () => {
    while (goOn(moments.length)) moments.push((await limiter.acquire()).grantedAt);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return moments;
}

for (const [kind, limit] of Object.entries({
  'sliding window': slidingWindow({ permits, interval }),
  'fixed window': fixedWindow({ permits, interval }),
  'token bucket': tokenBucket({ permits, interval }),
}))
  test(`callers of a ${kind} that repeat their requests leave nothing taken behind`, async ({
    connect,
    afterwards,
  }) => {
    const [limiter, other] = [connect(), connect()].map((redis) => {
      const created = new RateLimiter({ name: 'prefetched', limit, redis });
      afterwards(() => created.close());
      return created;
    });
    const { length } = await repeat(limiter, (granted) => granted < 200 * callers);
    assert.is(await limiter.availablePermits(), permits - length);
    assert.is(await other.availablePermits(), permits - length);
    const { calls, granted } = limiter.stats();
    assert.is(granted, length);
    // Two permits for each caller in a round trip, but for the first calls.
    assert.ok(calls < 0.6 * 200, `${calls} calls`);
  });

test('clients that prefetch never exceed a limit, and use all of it', async ({ connect, afterwards }) => {
  // So few that a busy machine grants them all.
  const limit = slidingWindow({ permits: 2_000, interval: 500 });
  const lasts = 1_500;
  const end = performance.now() + lasts;
  const grants = await Promise.all(
    [1, 2].map(async () => {
      const limiter = new RateLimiter({ name: 'binding', limit, redis: connect() });
      afterwards(() => limiter.close());
      return repeat(limiter, () => performance.now() < end);
    }),
  );
  const moments = grants.flat().sort((a, b) => a - b);
  for (let i = 2_000; i < moments.length; i++)
    assert.ok(moments[i] - moments[i - 2_000] >= 500, `over at ${moments[i]}`);
  // Three windows. The last ends before all of its permits are granted.
  assert.ok(moments.length >= 4_800, `${moments.length} grants`);
});

test.run();
