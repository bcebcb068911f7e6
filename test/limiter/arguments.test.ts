import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import {
  assertRefuses,
  type Bad,
  noDuration,
  noObject,
  noPositiveInteger,
  noWholeNumber,
  rejection,
} from '../support/badInput.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });
const limiter = () => new RateLimiter({ name: 'api', limit });
const pair = () => new RateLimiter({ name: 'api', limit: { requests: limit, tokens: limit } });
const askers = ['acquire', 'tryAcquire'] as const;

for (const method of [...askers, 'decide'] as const) {
  test(`${method} refuses permits that are not a positive integer`, () =>
    assertRefuses(
      (n) => limiter()[method](n as never),
      noPositiveInteger,
      'permits',
      'a positive safe integer',
    ));

  test(`${method} refuses permits that are neither a number nor a record, with a record of limits`, () => {
    const noPermits = noObject.filter(([value]) => value !== 5);
    return assertRefuses((n) => pair()[method](n as never), noPermits, 'permits', 'a number or a record');
  });

  test(`${method} refuses a record with a number of the wrong type, sign or size, and names the limit`, () => {
    const bad = noPositiveInteger.filter(([value]) => value !== 0);
    const call = (tokens: unknown) => pair()[method]({ requests: 1, tokens } as never);
    return assertRefuses(call, bad, 'permits.tokens', 'a positive safe integer');
  });

  test(`${method} refuses a record without any permits`, async () => {
    for (const permits of [{}, { requests: 0 }, { requests: 0, tokens: undefined }]) {
      const error = await rejection(pair()[method](permits));
      assert.instance(error, RangeError);
      assert.match(error.message, /^permits: expected some of "requests", "tokens", got none$/);
    }
  });

  test(`${method} refuses a record with a name that no limit has`, async () => {
    const error = await rejection(pair()[method]({ requests: 1, token: 1 } as never));
    assert.instance(error, RangeError);
    assert.match(error.message, /^permits: expected names among "requests", "tokens", got "token"$/);
  });
}

for (const method of askers) {
  test(`${method} refuses options that are not an object`, () =>
    assertRefuses((options) => limiter()[method](1, options as never), noObject, 'options', 'an object'));

  test(`${method} refuses a timeout that is not a duration`, () =>
    assertRefuses(
      (timeout) => limiter()[method](1, { timeout } as never),
      noDuration,
      'timeout',
      'milliseconds, 0 or more',
    ));

  test(`${method} refuses a signal that is not an AbortSignal`, () => {
    const bad: readonly Bad[] = [...noObject, [{ aborted: false }, TypeError, 'an object']];
    return assertRefuses(
      (signal) => limiter()[method](1, { signal } as never),
      bad,
      'signal',
      'an AbortSignal',
    );
  });

  test(`${method} refuses an option that does not exist`, async () => {
    const error = await rejection(limiter()[method](1, { timeOut: 5 } as never));
    assert.instance(error, TypeError);
    assert.match(error.message, /^timeOut: no such option/);
  });
}

test('availablePermits refuses options that are not an object', () =>
  assertRefuses((options) => limiter().availablePermits(options as never), noObject, 'options', 'an object'));

test('refund refuses unused permits that are not a whole number up to the granted permits', async () => {
  const permit = await limiter().acquire(2);
  const bad: readonly Bad[] = [...noWholeNumber, [3, RangeError, '3']];
  await assertRefuses((n) => permit.refund(n as never), bad, 'unused', 'a whole number from 0 to 2');
});

test('refund refuses a record with a number out of range, and names the limit', async () => {
  const permit = await pair().acquire({ requests: 1, tokens: 2 });
  const call = (tokens: unknown) => permit.refund({ tokens } as never);
  const bad: readonly Bad[] = [...noWholeNumber, [3, RangeError, '3']];
  await assertRefuses(call, bad, 'unused.tokens', 'a whole number from 0 to 2');
});

test('settle refuses permits of a limit that the request did not charge', async () => {
  const permit = await pair().acquire({ requests: 1 });
  const bad: readonly Bad[] = [[5, RangeError, '5']];
  const call = (tokens: unknown) => permit.settle({ tokens } as never);
  await assertRefuses(call, bad, 'used.tokens', '0, as the request has none');
});

test('refund refuses a name that no limit has', async () => {
  const permit = await pair().acquire({ requests: 1, tokens: 2 });
  const error = await rejection(permit.refund({ token: 1 } as never));
  assert.instance(error, RangeError);
  assert.match(error.message, /^unused: expected names among "requests", "tokens", got "token"$/);
});

test('options in the place of the permits are refused with a hint', async () => {
  for (const options of [{ timeout: 500 }, { signal: new AbortController().signal }]) {
    const error = await rejection(limiter().acquire(options as never));
    assert.instance(error, TypeError);
    assert.match(
      error.message,
      /^permits: expected a positive safe integer before the options, got an object/,
    );
  }
});

test('a call that is refused charges nothing', async () => {
  const api = limiter();
  for (const permits of [0, 6, Number.NaN]) await rejection(api.acquire(permits));
  await rejection(api.acquire(1, { timeout: -1 }));
  assert.is(await api.availablePermits(), 5);
});

test.run();
