import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/index.ts';
import { fixedWindow, leakyBucket, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { assertRefuses, type Bad, missing, noObject, noPositiveInteger } from '../support/badInput.ts';

const integer = 'a positive safe integer';
const factories = Object.entries({ slidingWindow, fixedWindow, tokenBucket, leakyBucket });

/** Calls the factory with one option that the types do not allow. */
function giving(factory: (options: never) => unknown, option: string) {
  return (value: unknown) => factory({ permits: 5, interval: 1000, [option]: value } as never);
}

for (const [kind, factory] of factories) {
  test(`${kind} refuses options that are not an object`, () =>
    assertRefuses((options) => factory(options as never), [missing, ...noObject], 'options', 'an object'));

  for (const option of ['permits', 'interval'])
    test(`${kind} refuses ${option} of the wrong type, sign or size`, () =>
      assertRefuses(giving(factory, option), [missing, ...noPositiveInteger], option, integer));

  test(`${kind} refuses an interval whose end would not be an exact moment`, () =>
    assertRefuses(
      (interval) => factory({ permits: 1, interval } as never),
      [
        [1e12 + 1, RangeError, '1000000000001'],
        [2 ** 53 - 1, RangeError, '9007199254740991'],
      ],
      'interval',
      'at most 10^12 ms (31 years)',
    ));

  test(`${kind} refuses permits that cannot be counted exactly over the interval`, () => {
    const tooMuch: Bad = [2 ** 43, RangeError, `${2 ** 43} · 1024`];
    const call = (permits: unknown) => factory({ permits, interval: 1024 } as never);
    return assertRefuses(call, [tooMuch], 'permits', 'permits · interval below 2^53');
  });
}

test('slidingWindow refuses a resolution of the wrong type, sign or size', () =>
  assertRefuses(giving(slidingWindow, 'resolution'), noPositiveInteger, 'resolution', integer));

test('slidingWindow refuses a resolution longer than its interval', () =>
  assertRefuses(
    giving(slidingWindow, 'resolution'),
    [[1001, RangeError, '1001']],
    'resolution',
    'at most the interval, 1000 ms',
  ));

test('fixedWindow refuses an unknown alignment', () =>
  assertRefuses(
    giving(fixedWindow, 'align'),
    [
      ['last', RangeError, '"last"'],
      ['', RangeError, '""'],
      [null, TypeError, 'null'],
      [0, TypeError, '0'],
      [['first'], TypeError, 'an array'],
    ],
    'align',
    'one of "first", "epoch"',
  ));

test('tokenBucket refuses a burst of the wrong type, sign or size', () =>
  assertRefuses(giving(tokenBucket, 'burst'), noPositiveInteger, 'burst', integer));

test('tokenBucket refuses a burst that cannot be counted exactly over the interval', () =>
  assertRefuses(
    giving(tokenBucket, 'burst'),
    [[2 ** 50, RangeError, `${2 ** 50} · 1000`]],
    'burst',
    'burst · interval below 2^53',
  ));

test('a limit that is made by hand is refused with what was probably meant', () => {
  const rate = { permits: 5, interval: 1000 };
  const meant = 'did you mean slidingWindow({ permits: 5, interval: 1000 })?';
  for (const limit of [rate, { ...rate, kind: 'slidingWindow' }, { ...rate, burst: 7 }])
    assert.throws(
      () => new RateLimiter({ name: 'api', limit: limit as never }),
      `limit: expected a limit made`,
    );
  const says: [unknown, string][] = [
    [
      rate,
      `limit: expected a limit made by slidingWindow, fixedWindow, tokenBucket or leakyBucket, got an object; ${meant}`,
    ],
    [
      { a: rate },
      `limit.a: expected a limit made by slidingWindow, fixedWindow, tokenBucket or leakyBucket, got an object; ${meant}`,
    ],
  ];
  for (const [limit, message] of says)
    assert.throws(
      () => new RateLimiter({ name: 'api', limit: limit as never }),
      (error: Error) => error instanceof TypeError && error.message === message,
    );
  // Such names are allowed as names of limits.
  const limit = slidingWindow(rate);
  assert.not.throws(() => new RateLimiter({ name: 'api', limit: { permits: limit, interval: limit } }));
});

test.run();
