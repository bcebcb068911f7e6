import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  leakyBucket,
  RateLimiter,
  type ThrottleDistributedOptions,
  throttleDistributed,
} from '../../../src/index.ts';

const test = suite('throttleDistributed, options');
const limit = leakyBucket({ permits: 1, interval: 3 });
const limiter = new RateLimiter({ name: 'api', limit });
const record = new RateLimiter({ name: 'api', limit: { requests: limit, tokens: limit } });

const names = 'permits, key, strategy, timeout, onTimeout, maxQueue, overflow, project';
const number = 'permits: expected a positive safe integer';
const strategy = 'strategy: expected one of "wait", "drop", "error"';
const timeout = 'timeout: expected milliseconds, 0 or more';
const onTimeout = 'onTimeout: expected one of "error", "drop"';
const maxQueue = 'maxQueue: expected a positive integer or Infinity';
const overflow = 'overflow: expected one of "error", "dropOldest", "dropNewest"';
const project = 'project: expected a function';

const wrong: [options: unknown, type: typeof Error, message: string][] = [
  [null, TypeError, 'options: expected an object, got null'],
  [5, TypeError, 'options: expected an object, got 5'],
  [[], TypeError, 'options: expected an object, got an array'],
  [{ maxqueue: 1 }, TypeError, `maxqueue: no such option; expected one of ${names}`],
  [{ permits: 0 }, RangeError, `${number}, got 0`],
  [{ permits: -1 }, RangeError, `${number}, got -1`],
  [{ permits: 0.5 }, RangeError, `${number}, got 0.5`],
  [{ permits: Number.NaN }, RangeError, `${number}, got NaN`],
  [{ permits: Infinity }, RangeError, `${number}, got Infinity`],
  [{ permits: 2 ** 53 }, RangeError, `${number}, got 9007199254740992`],
  [{ permits: '1' }, TypeError, `${number}, got "1"`],
  [{ permits: null }, TypeError, `${number}, got null`],
  [{ permits: 1n }, TypeError, `${number}, got 1n (bigint)`],
  [{ permits: { requests: 1 } }, TypeError, `${number}, got an object`],
  [{ strategy: 'block' }, RangeError, `${strategy}, got "block"`],
  [{ strategy: 1 }, TypeError, `${strategy}, got 1`],
  [{ timeout: -1 }, RangeError, `${timeout}, got -1`],
  [{ timeout: Number.NaN }, RangeError, `${timeout}, got NaN`],
  [{ timeout: '5s' }, TypeError, `${timeout}, got "5s"`],
  [{ onTimeout: 'wait' }, RangeError, `${onTimeout}, got "wait"`],
  [{ onTimeout: true }, TypeError, `${onTimeout}, got true`],
  [{ maxQueue: 0 }, RangeError, `${maxQueue}, got 0`],
  [{ maxQueue: -1 }, RangeError, `${maxQueue}, got -1`],
  [{ maxQueue: 1.5 }, RangeError, `${maxQueue}, got 1.5`],
  [{ maxQueue: Number.NaN }, RangeError, `${maxQueue}, got NaN`],
  [{ maxQueue: '1' }, TypeError, `${maxQueue}, got "1"`],
  [{ overflow: 'drop' }, RangeError, `${overflow}, got "drop"`],
  [{ overflow: {} }, TypeError, `${overflow}, got an object`],
  [{ project: 'value' }, TypeError, `${project}, got "value"`],
  [{ project: null }, TypeError, `${project}, got null`],
];
for (const [options, type, message] of wrong) {
  test(`invalid options throw: ${message}`, () => {
    const make = () => throttleDistributed(limiter, options as object);
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });
}

const known = '"requests", "tokens"';
const wrongRecords: [permits: unknown, type: typeof Error, message: string][] = [
  ['1', TypeError, `permits: expected a number or a record of ${known}, got "1"`],
  [{ token: 1 }, RangeError, `permits: expected names among ${known}, got "token"`],
  [{ tokens: -1 }, RangeError, 'permits.tokens: expected a positive safe integer, got -1'],
  [{ tokens: '1' }, TypeError, 'permits.tokens: expected a positive safe integer, got "1"'],
  [{ requests: 0, tokens: 0 }, RangeError, `permits: expected some of ${known}, got none`],
  [{}, RangeError, `permits: expected some of ${known}, got none`],
];
for (const [permits, type, message] of wrongRecords) {
  test(`with a record of limits, invalid permits throw: ${message}`, () => {
    const make = () => throttleDistributed(record, { permits: permits as number });
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });
}

for (const [what, shown] of [
  [undefined, 'undefined'],
  [null, 'null'],
  [{}, 'an object'],
  ['api', '"api"'],
]) {
  test(`${shown} in place of a limiter throws`, () => {
    assert.throws(
      () => throttleDistributed(what as unknown as RateLimiter),
      (error: Error) =>
        error instanceof TypeError &&
        error.message === `limiter: expected a RateLimiter or a RateLimiterGroup, got ${shown}`,
    );
  });
}

test('the bounds themselves, and options left undefined, are accepted', () => {
  const left: ThrottleDistributedOptions<unknown, unknown> = {
    permits: undefined,
    strategy: undefined,
    timeout: undefined,
    onTimeout: undefined,
    maxQueue: undefined,
    overflow: undefined,
  };
  for (const options of [
    undefined,
    {},
    left as object,
    { timeout: 0, maxQueue: 1 },
    { timeout: 0.5, maxQueue: Infinity },
    { timeout: Infinity, permits: Number.MAX_SAFE_INTEGER },
  ])
    assert.type(throttleDistributed(limiter, options), 'function');
});

test.run();
