import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/errors.ts';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { timed } from '../support/fakeTime.ts';
import { sharing } from './sharing.ts';

const five = slidingWindow({ permits: 5, interval: 1000, resolution: 1 });
const two = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });

timed('a record of limits is stored, returned and decided by its names', async () => {
  const names = { requests: five, tokens: tokenBucket({ permits: 100, interval: 1000 }) };
  const [a, b] = sharing({ limit: names }, { limit: names });
  await a.acquire({ requests: 1, tokens: 40 });
  // In another order, which is the same rate.
  const rate = { tokens: tokenBucket({ permits: 30, interval: 1000 }), requests: two };
  await a.setRate(rate);
  assert.equal(await b.getRate(), { limit: rate, stored: true });
  assert.equal(await b.availablePermits({ detail: true }), { requests: 1, tokens: 0 });
  const decision = await b.decide({ requests: 1 });
  assert.equal([decision.granted, decision.limit, decision.remaining], [true, 2, 0]);
});

timed('a rate of other names than those of the own limits is refused, and nothing is stored', async () => {
  const [pair] = sharing({ limit: { a: five, b: five } });
  const [single] = sharing(five);
  const bad = [five, { a: five }, { a: five, c: five }, { a: five, b: five, c: five }];
  for (const method of ['setRate', 'trySetRate'] as const) {
    for (const limit of bad) {
      const error = await rejection(pair[method](limit as never) as Promise<unknown>);
      assert.instance(error, TypeError);
      assert.match(
        error.message,
        /^limit: expected a record of "a", "b", as the limiter was created with, got /,
      );
    }
    for (const limit of [{ '': five }, { a: five }]) {
      const error = await rejection(single[method](limit as never) as Promise<unknown>);
      assert.match(
        error.message,
        /^limit: expected one limit, as the limiter was created with, got a record of/,
      );
    }
  }
  assert.is((await pair.getRate()).stored, false);
  assert.is((await single.getRate()).stored, false);
});

timed('under a stored rate of other names, only replacing it is possible', async () => {
  const record = { requests: five, tokens: five };
  const [single, pair] = sharing(five, { limit: record });
  await single.setRate(two);
  const calls = [
    () => pair.acquire(),
    () => pair.tryAcquire(),
    () => pair.decide(),
    () => pair.availablePermits(),
    () => pair.getRate(),
    () => pair.release(1),
  ];
  for (const call of calls) {
    const error = await rejection(call() as Promise<unknown>);
    assert.instance(error, StoreError);
    assert.match(error.message, /"requests","tokens".*give it those, or store another rate, or delete\(\)/);
  }
  assert.is(await pair.trySetRate(record), false);
  // A pause concerns all, whatever their limits are called.
  await pair.pauseFor(1);
  await pair.reset();
  await pair.setRate(record);
  assert.ok(await pair.tryAcquire(5));
  assert.instance(await rejection(single.acquire()), StoreError);
  await single.delete();
  assert.ok(await single.tryAcquire(5));
  assert.is((await single.getRate()).stored, false);
});

test.run();
