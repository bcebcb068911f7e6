import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  LimiterClosedError,
  PermitsExceedLimitError,
  QueueOverflowError,
  RateLimitExceededError,
} from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, slidingWindow } from '../../src/limits/limit.ts';
import {
  assertRefuses,
  type Bad,
  missing,
  noDuration,
  noObject,
  noPositiveInteger,
  noString,
  rejection,
} from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });
const open = () => new RateLimiter({ name: 'api', limit });
const pair = () => new RateLimiter({ name: 'api', limit: { requests: limit, tokens: limit } });

timed('a wrapped function receives `this` and all arguments, and returns its result', async () => {
  const limiter = open();
  const counter = {
    from: 10,
    add: limiter.wrap(function (this: { from: number }, a: number, ...more: number[]) {
      return [this.from, a, ...more];
    }),
  };
  assert.equal(await counter.add(1, 2, 3), [10, 1, 2, 3]);
  assert.equal(await counter.add.call({ from: 20 }, 4), [20, 4]);
});

timed('a wrapped function returns a promise of what fn returns or promises', async () => {
  const limiter = open();
  const result = limiter.wrap((n: number) => n)(1);
  assert.instance(result, Promise);
  assert.is(await result, 1);
  assert.is(await limiter.wrap(async (n: number) => n)(2), 2);
  // biome-ignore lint/suspicious/noThenProperty: whatever has a `then` is awaited
  assert.is(await limiter.wrap(() => ({ then: (done: (n: number) => void) => done(3) }))(), 3);
});

test('a wrapped function has the name and the length of fn', () => {
  const limiter = open();
  function user(_id: string, _version: number) {}
  const { name, length } = limiter.wrap(user);
  assert.equal([name, length], ['user', 2]);
  const nameless = limiter.wrap(
    (
      () =>
      (..._all: string[]) => {}
    )(),
  );
  assert.equal([nameless.name, nameless.length], ['', 0]);
});

test('wrapping neither calls nor charges', async () => {
  const limiter = open();
  let calls = 0;
  limiter.wrap(() => calls++);
  await Promise.resolve();
  assert.is(calls, 0);
  assert.is(await limiter.availablePermits(), 5);
});

timed('calls wait for their permits, and run in their order', async (clock) => {
  const limiter = open();
  const ran: [call: number, at: number][] = [];
  const call = limiter.wrap((n: number) => {
    ran.push([n, performance.now()]);
  });
  for (let i = 0; i < 12; i++) call(i);
  await clock.tickAsync(5000);
  const at = [0, 0, 0, 0, 0, 1000, 1000, 1000, 1000, 1000, 2000, 2000];
  assert.equal(
    ran,
    at.map((ms, i) => [i, ms]),
  );
});

timed('a call is queued with all other requests, when it is made', async (clock) => {
  const limiter = open();
  const call = limiter.wrap(() => {}, { permits: 5 });
  const fates = [fateOf<unknown>(limiter.acquire()), fateOf<unknown>(call()), fateOf(limiter.acquire())];
  await clock.tickAsync(5000);
  assert.equal(times(fates), [0, 1000, 2000]);
});

timed('a long call does not delay others', async (clock) => {
  const call = open().wrap((ms: number) => new Promise<void>((done) => setTimeout(done, ms)), { permits: 5 });
  const fates = [fateOf(call(10_000)), fateOf(call(1)), fateOf(call(1))];
  await clock.tickAsync(10_000);
  assert.equal(times(fates), [10_000, 1001, 2001]);
});

timed('a call that cannot be granted in time is rejected at once, and fn is not called', async (clock) => {
  const limiter = open();
  const calls: number[] = [];
  const call = limiter.wrap((n: number) => calls.push(n), { permits: 4, timeout: 900 });
  await call(1);
  await clock.tickAsync(50);
  const error = await rejection(call(2));
  assert.instance(error, AcquireTimeoutError);
  const { permits, timeout, retryAfter } = error as AcquireTimeoutError;
  assert.equal([permits, timeout, retryAfter], [4, 900, 950]);
  await clock.tickAsync(50);
  const inTime = fateOf(call(3));
  await clock.tickAsync(900);
  assert.is(inTime.at, 1000);
  assert.equal(calls, [1, 3]);
});

timed('a timeout bounds the wait, not the call', async (clock) => {
  const call = open().wrap(() => new Promise<void>((done) => setTimeout(done, 5000)), { timeout: 10 });
  const fate = fateOf(call());
  await clock.tickAsync(5000);
  assert.equal([fate.at, fate.reason], [5000, undefined]);
});

timed('a signal cancels waiting calls, and does not affect running ones', async (clock) => {
  const limiter = open();
  const controller = new AbortController();
  const ran: number[] = [];
  const call = limiter.wrap(
    async (n: number) => {
      await new Promise((done) => setTimeout(done, 500));
      ran.push(n);
    },
    { permits: 5, signal: controller.signal },
  );
  const fates = [fateOf(call(1)), fateOf(call(2))];
  await clock.tickAsync(100);
  const reason = new Error('enough');
  controller.abort(reason);
  await clock.tickAsync(2000);
  assert.equal(times(fates), [500, 100]);
  assert.is(fates[1].reason, reason);
  assert.is(await rejection(call(3)), reason);
  assert.equal(ran, [1]);
  assert.is(await limiter.availablePermits(), 5);
});

timed("the strategy 'error' rejects a call that would have to wait", async (clock) => {
  const limiter = open();
  let calls = 0;
  const call = limiter.wrap(() => ++calls, { permits: 3, strategy: 'error' });
  assert.is(await call(), 1);
  await clock.tickAsync(400);
  const error = await rejection(call());
  assert.instance(error, RateLimitExceededError);
  const { name, code, permits, retryAfter } = error as RateLimitExceededError;
  assert.equal(
    { name, code, permits, retryAfter },
    { name: 'RateLimitExceededError', code: 'ERR_SLUICE_LIMIT', permits: 3, retryAfter: 600 },
  );
  assert.match(error.message, '"api"');
  assert.is(calls, 1);
  assert.is(await limiter.availablePermits(), 2);
  // However short the wait would be.
  await clock.tickAsync(599);
  const last = fateOf(call());
  await clock.tickAsync(1);
  assert.is(last.at, 999);
  assert.instance(last.reason, RateLimitExceededError);
});

timed("the strategy 'error' with a timeout lets a call wait for so long", async (clock) => {
  const call = open().wrap(() => {}, { permits: 5, strategy: 'error', timeout: 1000 });
  const fates = [fateOf(call()), fateOf(call()), fateOf(call())];
  await clock.tickAsync(1000);
  assert.equal(times(fates).slice(0, 2), [0, 1000]);
  assert.instance(fates[2].reason, RateLimitExceededError);
});

timed("the strategy 'error' leaves all other errors as they are", async () => {
  const refused = new AcquireTimeoutError('another', 1, 0);
  const limiter = open();
  const nested = limiter.wrap(() => Promise.reject(refused), { strategy: 'error' });
  assert.is(await rejection(nested()), refused);
  const tooMany = limiter.wrap(() => {}, { permits: 6, strategy: 'error' });
  assert.instance(await rejection(tooMany()), PermitsExceedLimitError);
});

timed('permits may be a function, of the arguments and `this`', async () => {
  const limiter = open();
  const seen: unknown[] = [];
  const api = {
    weight: 2,
    send: limiter.wrap(
      function (this: { weight: number }, text: string, times: number) {
        return text.repeat(times);
      },
      {
        permits(text, times) {
          seen.push(text, times);
          return this.weight * times;
        },
      },
    ),
  };
  assert.is(await api.send('ab', 2), 'abab');
  assert.equal(seen, ['ab', 2]);
  assert.is(await limiter.availablePermits(), 1);
});

timed('permits may be a record, or a function that returns one', async () => {
  const limiter = pair();
  await limiter.wrap(() => {}, { permits: { requests: 1, tokens: 3 } })();
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 4, tokens: 2 });
  const ask = limiter.wrap((text: string) => text, { permits: (text) => ({ tokens: text.length }) });
  await ask('hi');
  assert.equal(await limiter.availablePermits({ detail: true }), { requests: 4, tokens: 0 });
  await limiter
    .wrap(() => {}, { permits: 1, strategy: 'error' })()
    .catch((error) => {
      assert.is(error.permits, 1);
    });
});

timed('one permit is the default, also where an option is undefined', async () => {
  const limiter = open();
  await limiter.wrap(() => {})();
  await limiter.wrap(() => {}, {
    permits: undefined,
    strategy: undefined,
    timeout: undefined,
    signal: undefined,
  })();
  assert.is(await limiter.availablePermits(), 3);
});

timed('a function of permits that throws rejects the call; nothing is charged or called', async () => {
  const limiter = open();
  const thrown = new Error('no idea');
  let calls = 0;
  const call = limiter.wrap(() => calls++, {
    permits: () => {
      throw thrown;
    },
  });
  assert.is(await rejection(call()), thrown);
  assert.is(calls, 0);
  assert.is(await limiter.availablePermits(), 5);
});

timed('a function of permits that returns invalid permits rejects the call', async () => {
  const limiter = open();
  const call = limiter.wrap((n: unknown) => n, { permits: (n) => n as number });
  await assertRefuses(call, [missing, ...noPositiveInteger], 'permits', 'a positive safe integer');
  const ofNames = pair().wrap((_n: unknown) => {}, { permits: (n) => n as { tokens: number } });
  const noPermits = noObject.filter(([value]) => value !== 5);
  await assertRefuses(ofNames, noPermits, 'permits', 'a number or a record of "requests", "tokens"');
  const unknownName = await rejection(ofNames({ token: 1 }));
  assert.match(unknownName.message, 'permits: expected names among "requests", "tokens", got "token"');
  assert.instance(await rejection(call(6)), PermitsExceedLimitError);
  assert.is(await limiter.availablePermits(), 5);
});

timed('a call that throws or rejects keeps its permit', async () => {
  const limiter = open();
  const failure = new Error('500');
  const throws = limiter.wrap(() => {
    throw failure;
  });
  assert.is(await rejection(throws()), failure);
  assert.is(await rejection(limiter.wrap(() => Promise.reject(failure), { permits: 2 })()), failure);
  assert.is(await limiter.availablePermits(), 2);
});

timed('a function may call itself through its wrapper', async (clock) => {
  const limiter = new RateLimiter({ name: 'api', limit: fixedWindow({ permits: 1, interval: 100 }) });
  const down: (n: number) => Promise<number> = limiter.wrap((n: number) => (n === 0 ? 0 : down(n - 1)));
  const fate = fateOf(down(3));
  await clock.tickAsync(1000);
  assert.equal([fate.value, fate.at], [0, 300]);
});

timed('a call at a closed limiter rejects, and so does one that waits as it closes', async () => {
  const limiter = open();
  let calls = 0;
  const call = limiter.wrap(() => ++calls, { permits: 5 });
  await call();
  const waits = rejection(call());
  await limiter.close();
  assert.instance(await waits, LimiterClosedError);
  assert.instance(await rejection(call()), LimiterClosedError);
  assert.instance(await rejection(limiter.wrap(() => {}, { strategy: 'error' })()), LimiterClosedError);
  assert.is(calls, 1);
});

timed('a call rejects if the queue is full', async () => {
  const limiter = new RateLimiter({ name: 'api', limit, maxQueue: 1 });
  const call = limiter.wrap(() => {}, { permits: 5 });
  await call();
  fateOf(call());
  assert.instance(await rejection(call()), QueueOverflowError);
});

/** Wraps with one option that the types would not allow. */
const giving = (option: string) => (value: unknown) => open().wrap(() => {}, { [option]: value } as never);

const noPermits = noPositiveInteger.filter(([value]) => typeof value !== 'function');
const noStrategy: readonly Bad[] = [...noString, ['drop', RangeError, '"drop"'], ['', RangeError, '""']];
const wrong: readonly [option: string, values: readonly Bad[], expected: string][] = [
  ['permits', noPermits, 'a positive safe integer'],
  ['strategy', noStrategy, 'one of "wait", "error"'],
  ['timeout', noDuration, 'milliseconds, 0 or more'],
  ['signal', [...noObject, [{}, TypeError, 'an object']], 'an AbortSignal'],
];
for (const [option, values, expected] of wrong)
  test(`wrapping refuses an invalid ${option}, with what was expected and what was given`, () =>
    assertRefuses(giving(option), values, option, expected));

test('wrapping refuses permits that are invalid for a record of limits', () => {
  const call = (tokens: unknown) => pair().wrap(() => {}, { permits: { tokens } } as never);
  const bad = noPositiveInteger.filter(([value]) => value !== 0);
  return assertRefuses(call, bad, 'permits.tokens', 'a positive safe integer');
});

test('more permits than the limit can grant are refused by the call, not by wrapping', async () => {
  const call = open().wrap(() => {}, { permits: 6 });
  assert.instance(await rejection(call()), PermitsExceedLimitError);
});

test('wrapping refuses a value that is not a function', () =>
  assertRefuses(
    (fn) => open().wrap(fn as never),
    [missing, [null, TypeError, 'null'], [{}, TypeError, 'an object'], ['fetch', TypeError, '"fetch"']],
    'fn',
    'a function',
  ));

test('wrapping refuses options that are not an object', () =>
  assertRefuses((options) => open().wrap(() => {}, options as never), noObject, 'options', 'an object'));

test('wrapping refuses an option that does not exist', () => {
  for (const option of ['permit', 'key', 'onTimeout', 'maxQueue'])
    assert.throws(
      () => giving(option)(1),
      (error: unknown) =>
        error instanceof TypeError &&
        error.message === `${option}: no such option; expected one of permits, strategy, timeout, signal`,
      option,
    );
});

test.run();
