import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import {
  assertRefuses,
  type Bad,
  missing,
  noObject,
  noPositiveIntegerOrInfinity,
  noString,
} from '../support/badInput.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });

/** A limiter with one option that the types would not allow. */
function giving(option: string) {
  return (value: unknown) => new RateLimiter({ name: 'api', limit, [option]: value } as never);
}

test('options that are not an object are refused', () =>
  assertRefuses(
    (options) => new RateLimiter(options as never),
    [missing, ...noObject],
    'options',
    'an object',
  ));

test('a name that is empty, or not a string, is refused', () =>
  assertRefuses(
    giving('name'),
    [missing, ['', RangeError, '""'], ...noString],
    'name',
    'a non-empty string',
  ));

test('a prefix that is not a string is refused; an empty one is accepted', async () => {
  await assertRefuses(giving('prefix'), noString, 'prefix', 'a string');
  assert.not.throws(() => giving('prefix')(''));
});

test('a client id that is empty, or not a string, is refused', () =>
  assertRefuses(giving('clientId'), [['', RangeError, '""'], ...noString], 'clientId', 'a non-empty string'));

test('a maxQueue that is neither a positive integer nor Infinity is refused', async () => {
  const expected = 'a positive integer or Infinity';
  await assertRefuses(giving('maxQueue'), noPositiveIntegerOrInfinity, 'maxQueue', expected);
  assert.not.throws(() => giving('maxQueue')(Infinity));
});

const noService: readonly Bad[] = [...noObject, [{}, TypeError, 'an object']];

test('a `redis` that is not a connection is refused', () =>
  assertRefuses(giving('redis'), noService, 'redis', 'an ioredis Redis or Cluster'));

test('a `store` that is not a memoryStore() is refused', () =>
  assertRefuses(giving('store'), noService, 'store', 'a memoryStore()'));

test('a `scheduler` that is not an RxJS scheduler is refused', () =>
  assertRefuses(giving('scheduler'), noService, 'scheduler', 'an RxJS scheduler'));

test('a store together with a connection is refused', () => {
  const options = { name: 'api', limit, store: memoryStore(), redis: { defineCommand() {} } as never };
  assert.throws(() => new RateLimiter(options), /^store: expected either redis or store, got both/);
});

test('an option that does not exist is refused by its name', () => {
  for (const option of ['maxqueue', 'limits', '__proto__', 'toString'])
    assert.throws(
      () => new RateLimiter({ name: 'api', limit, ...JSON.parse(`{ "${option}": 1 }`) }),
      (error: unknown) => error instanceof TypeError && error.message.startsWith(`${option}: no such option`),
      option,
    );
});

test('a `limit` that no limit function has made is refused', () =>
  assertRefuses(
    giving('limit'),
    [
      missing,
      [null, TypeError, 'null'],
      [5, TypeError, '5'],
      ['5 per second', TypeError, '"5 per second"'],
      [slidingWindow, TypeError, 'a function'],
      [[limit], TypeError, 'an array'],
      [{ kind: 'slidingWindow', permits: 5, interval: 1000 }, TypeError, 'an object'],
    ],
    'limit',
    'a limit',
  ));

test('a record without limits is refused', () =>
  assertRefuses(
    giving('limit'),
    [[{}, RangeError, '{}']],
    'limit',
    'a limit, or a record with at least one',
  ));

test('a record with a value that is not a limit is refused, and the error has its name', () => {
  const record = (value: unknown) =>
    new RateLimiter({ name: 'api', limit: { good: limit, bad: value } as never });
  return assertRefuses(record, [missing, ...noObject], 'limit.bad', 'a limit made by');
});

test('an option that is undefined counts as left out', () => {
  for (const option of ['redis', 'prefix', 'clientId', 'maxQueue', 'store', 'scheduler'])
    assert.not.throws(() => giving(option)(undefined), option);
});

test.run();
