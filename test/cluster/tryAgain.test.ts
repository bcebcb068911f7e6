import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  RateLimiter,
  type RateLimiterOptions,
  StoreUnavailableError,
  slidingWindow,
} from '../../src/index.ts';
import { answeringRedis } from '../support/answeringRedis.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed } from '../support/fakeTime.ts';

/** The reply of a node while a slot is being moved. */
const replied = [
  'TRYAGAIN Multiple keys request during rehashing of slot',
  'ASK 8907 127.0.0.1:1',
  'MOVED 8907 127.0.0.1:1',
  'NOSCRIPT No matching script. Please use EVAL.',
];
const now = 1_700_000_000_000_000;
const replies = { reserve: now, decide: [1, 0, 0, 4], peek: [5] } as const;

/** A limiter on a cluster whose first `times` replies say that a slot is being moved. */
function limiterOf(times: number, options: Partial<RateLimiterOptions>) {
  let calls = 0;
  const redis = answeringRedis((script) => {
    // ioredis tries 16 times, and then fails with an error of its own.
    if (++calls <= times)
      throw new Error(
        `Too many Cluster redirections. Last error: ReplyError: ${replied[calls % replied.length]}`,
      );
    return replies[script as keyof typeof replies];
  });
  const limit = slidingWindow({ permits: 5, interval: 1_000 });
  return { limiter: new RateLimiter({ name: 'moving', limit, redis, ...options }), calls: () => calls };
}

test('repeats a call whose slot is being moved until it is answered', async () => {
  for (const options of [{}, { fallback: { timeout: 5_000 } }] as const) {
    const { limiter, calls } = limiterOf(4, options);
    assert.is((await limiter.acquire()).source, 'redis');
    assert.is(calls(), 5);
    await limiter.close();
  }
});

timed('repeats a refund whose slot is being moved', async (clock) => {
  let refunds = 0;
  const redis = answeringRedis((script) => {
    if (script !== 'refund') return replies[script as keyof typeof replies];
    if (++refunds <= 3) throw new Error(replied[0]);
    return [1];
  });
  const limit = slidingWindow({ permits: 5, interval: 1_000 });
  const limiter = new RateLimiter({ name: 'moving', limit, redis });
  const acquired = limiter.acquire();
  await clock.tickAsync(1);
  const fate = fateOf((await acquired).refund());
  for (let i = 0; i < 10; i++) await clock.tickAsync(100);
  assert.is(refunds, 4);
  assert.ok(fate.at !== undefined && !fate.reason, 'the refund settles');
});

test('repeats it no longer than the timeout of the call', async () => {
  for (const options of [{ storeTimeout: 300 }, { fallback: { mode: 'reject', timeout: 300 } }] as const) {
    const { limiter, calls } = limiterOf(Infinity, options);
    const error = await rejection(limiter.acquire());
    assert.instance(error, StoreUnavailableError);
    assert.match(error.message, /TRYAGAIN|ASK|MOVED|NOSCRIPT/);
    const made = calls();
    assert.ok(made > 1 && made <= 5, `${made} calls`);
    await new Promise((resolve) => setTimeout(resolve, 250));
    assert.is(calls(), made);
    await limiter.close();
  }
});

test.run();
