import sinon from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ask } from './sharing.ts';

const rate = { permits: 5, interval: 1000 };
const open = (limit: Limit) => new RateLimiter({ name: 'api', limit });

/** Makes `count` requests now. */
const burstsOfFive = [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000, 2000, 2000];
const every200 = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + 200 * i);

const expected: [string, Limit, number[]][] = [
  ['sliding window', slidingWindow(rate), burstsOfFive],
  ['fixed window', fixedWindow(rate), burstsOfFive],
  ['fixed window that is aligned to the epoch', fixedWindow({ ...rate, align: 'epoch' }), burstsOfFive],
  ['token bucket', tokenBucket(rate), [0, 0, 0, 0, 0, ...every200(200, 7)]],
  ['leaky bucket', leakyBucket(rate), every200(0, 12)],
];

for (const [kind, limit, moments] of expected)
  timed(`12 requests at 5 per 1000 ms are granted at their exact milliseconds: ${kind}`, async (clock) => {
    const fates = ask(open(limit), 12);
    await clock.tickAsync(5000);
    assert.equal(times(fates), moments);
    const granted = fates.map(({ value }) => value!.grantedAt - 1_700_000_000_000);
    assert.equal(granted, moments);
    assert.equal(
      fates.map(({ value }) => value!.waited),
      moments,
    );
  });

timed(
  'windows that are aligned to the epoch end with the second, whenever the first permit came',
  async (clock) => {
    await clock.tickAsync(400);
    const fates = ask(open(fixedWindow({ ...rate, align: 'epoch' })), 6);
    await clock.tickAsync(5000);
    assert.equal(times(fates), [400, 400, 400, 400, 400, 1000]);
  },
);

timed('a timeout may be a fraction of a millisecond', async (clock) => {
  const limiter = open(slidingWindow({ permits: 1, interval: 1000 }));
  await limiter.acquire();
  const fates = [999.75, 1000.25].map((timeout) => fateOf(limiter.acquire(1, { timeout })));
  await clock.tickAsync(5000);
  assert.equal(times(fates), [0, 1000]);
  assert.is(fates[0].reason?.name, 'AcquireTimeoutError');
});

timed('a timeout may be as large or small as a number can be', async (clock) => {
  const limiter = open(slidingWindow({ permits: 1, interval: 1000 }));
  await limiter.acquire();
  const timeouts = [Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, Number.MIN_VALUE];
  const fates = timeouts.map((timeout) => fateOf(limiter.acquire(1, { timeout })));
  await clock.tickAsync(5000);
  assert.equal(times(fates), [1000, 2000, 0]);
});

const sixtyDays = 60 * 24 * 60 * 60 * 1000;

timed('a wait longer than the longest timer is divided', async (clock) => {
  const setTimeout = sinon.spy(globalThis, 'setTimeout');
  const fates = ask(open(slidingWindow({ permits: 1, interval: sixtyDays, resolution: 1 })), 2);
  await clock.tickAsync(sixtyDays - 1);
  assert.equal(times(fates), [0, undefined]);
  await clock.tickAsync(1);
  assert.equal(times(fates), [0, sixtyDays]);
  assert.ok(setTimeout.args.every(([, ms]) => ms! <= 2 ** 31 - 1));
});

timed('a timer that fires before its time is set again', async (clock) => {
  const setTimeout = globalThis.setTimeout;
  const early = (work: () => void, ms: number) => setTimeout(work, ms - 1);
  sinon.replace(globalThis, 'setTimeout', early as typeof setTimeout);
  const limiter = open(slidingWindow({ permits: 1, interval: 1000 }));
  const fates = [...ask(limiter, 3), fateOf(limiter.acquire(1, { timeout: 2500 }))];
  await clock.tickAsync(5000);
  assert.equal(times(fates).slice(0, 3), [0, 1000, 2000]);
  assert.ok(fates[3].at! <= 2500);
});

for (const [direction, ms] of [
  ['forward', 3_600_000],
  ['back', -3_600_000],
] as const)
  timed(`a step of the wall clock ${direction} changes nothing for waiting requests`, async (clock) => {
    const limiter = open(slidingWindow(rate));
    const fates = ask(limiter, 12);
    await clock.tickAsync(500);
    clock.setSystemTime(Date.now() + ms);
    fates.push(...ask(limiter, 1, 1600));
    await clock.tickAsync(5000);
    assert.equal(times(fates), [...burstsOfFive, 2000]);
    assert.is(fates[12].value!.grantedAt, 1_700_000_002_000);
  });

timed('closing leaves no timer, and rejects waiting requests', async (clock) => {
  const limiter = open(slidingWindow(rate));
  const fates = [...ask(limiter, 12), ...ask(limiter, 1, 2500)];
  await clock.tickAsync(1500);
  await limiter.close();
  assert.is(clock.countTimers(), 0);
  assert.equal(times(fates), [...burstsOfFive.slice(0, 10), 1500, 1500, 1500]);
  for (const { reason } of fates.slice(10)) assert.instance(reason, LimiterClosedError);
  assert.is(await open(slidingWindow(rate)).availablePermits(), 5);
});

timed('no timer is left when no request waits', async (clock) => {
  const limiter = open(slidingWindow(rate));
  ask(limiter, 12);
  assert.is(clock.countTimers(), 1);
  await clock.tickAsync(2000);
  assert.is(clock.countTimers(), 0);
});

test.run();
