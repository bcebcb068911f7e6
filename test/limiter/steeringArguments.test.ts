import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import {
  assertRefuses,
  type Bad,
  missing,
  noDuration,
  noObject,
  noWholeNumber,
  rejection,
} from '../support/badInput.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });
const open = () => new RateLimiter({ name: 'api', limit });
const pair = () => new RateLimiter({ name: 'api', limit: { requests: limit, tokens: limit } });

const noPause: readonly Bad[] = [
  missing,
  ...noDuration,
  [Infinity, RangeError, 'Infinity'],
  [2 ** 42, RangeError, '4398046511104'],
];

test('pauseFor refuses an invalid number of milliseconds, and pauses nothing', async () => {
  const limiter = open();
  await assertRefuses(
    (ms) => limiter.pauseFor(ms as never),
    noPause,
    'ms',
    'milliseconds from 0 to 4398046511103',
  );
  assert.ok(await limiter.tryAcquire(5));
});

test('the longest pause is held, and can be lifted', async () => {
  const limiter = open();
  await limiter.pauseFor(2 ** 42 - 1);
  const { granted, retryAfter } = await limiter.decide();
  assert.not(granted);
  assert.ok(retryAfter > 2 ** 41);
  await limiter.reset();
  assert.ok(await limiter.tryAcquire(5));
});

test('release refuses permits that are not a whole number', () =>
  assertRefuses((n) => open().release(n as never), noWholeNumber, 'permits', 'a whole number from 0'));

test('release refuses to be called without permits', () =>
  assertRefuses((n) => open().release(n as never), [missing], 'permits', 'a number or a record'));

test('release refuses a record for a single limit', () =>
  assertRefuses(
    (n) => open().release(n as never),
    noObject.filter(([n]) => n !== 5),
    'permits',
    'a whole number',
  ));

test('release refuses a record with a value that is not a whole number, and names the limit', () =>
  assertRefuses(
    (tokens) => pair().release({ requests: 1, tokens } as never),
    noWholeNumber,
    'permits.tokens',
    'a whole number from 0 to 9007199254740991',
  ));

test('release refuses a name that no limit has', async () => {
  const error = await rejection(pair().release({ requests: 1, token: 1 } as never));
  assert.instance(error, RangeError);
  assert.match(error.message, /^permits: expected names among "requests", "tokens", got "token"$/);
});

const noLimit: readonly Bad[] = [
  missing,
  [null, TypeError, 'null'],
  [5, TypeError, '5'],
  ['5', TypeError, '"5"'],
  [[limit], TypeError, 'an array'],
  [{ ...limit }, TypeError, 'an object'],
];

for (const method of ['setRate', 'trySetRate'] as const)
  test(`${method} refuses a value that is not a limit, and stores nothing`, async () => {
    const limiter = open();
    await assertRefuses((rate) => limiter[method](rate as never), noLimit, 'limit', 'slidingWindow');
    assert.is((await limiter.getRate()).stored, false);
  });

test('setRate refuses options that are not an object', () =>
  assertRefuses((options) => open().setRate(limit, options as never), noObject, 'options', 'an object'));

test('setRate refuses a keepState that is not a boolean', () =>
  assertRefuses(
    (keepState) => open().setRate(limit, { keepState } as never),
    [
      [1, TypeError, '1'],
      ['true', TypeError, '"true"'],
      [null, TypeError, 'null'],
    ],
    'keepState',
    'one of true, false',
  ));

test('setRate refuses an option that does not exist', async () => {
  const error = await rejection(open().setRate(limit, { keep: true } as never));
  assert.instance(error, TypeError);
  assert.match(error.message, /^keep: no such option; expected one of keepState$/);
});

test('every control call on a closed limiter rejects with ERR_SLUICE_CLOSED, and changes nothing', async () => {
  const limiter = open();
  await limiter.close();
  const calls = {
    trySetRate: () => limiter.trySetRate(limit),
    setRate: () => limiter.setRate(limit),
    getRate: () => limiter.getRate(),
    pauseFor: () => limiter.pauseFor(1000),
    reset: () => limiter.reset(),
    delete: () => limiter.delete(),
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = await rejection(call());
    assert.instance(error, LimiterClosedError, name);
    assert.match(error.message, '"api"', name);
  }
});

test.run();
