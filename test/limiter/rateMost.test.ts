import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PermitsExceedLimitError } from '../../src/errors.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { sharing } from './sharing.ts';

const five = slidingWindow({ permits: 5, interval: 1000, resolution: 1 });
const ten = slidingWindow({ permits: 10, interval: 1000, resolution: 1 });
const two = slidingWindow({ permits: 2, interval: 1000, resolution: 1 });

timed('permits that the stored rate can grant are not refused, whatever the own limit', async () => {
  const [a, b] = sharing(five, two);
  await a.setRate(ten);
  assert.ok(await b.tryAcquire(9));
  await b.delete();
  const error = (await rejection(b.acquire(3))) as PermitsExceedLimitError;
  assert.instance(error, PermitsExceedLimitError);
  assert.is(error.limit, 2);
});

timed('permits that the stored rate cannot grant are refused at once, whatever the own limit', async () => {
  const [a, b] = sharing(five, ten);
  await a.setRate(two);
  for (const call of [() => b.acquire(3), () => b.tryAcquire(3), () => b.decide(3)]) {
    const error = (await rejection(call())) as PermitsExceedLimitError;
    assert.instance(error, PermitsExceedLimitError);
    assert.equal([error.permits, error.limit], [3, 2]);
  }
  assert.is(await b.availablePermits(), 2);
});

timed(
  'a request that waits, and that the new rate can never grant, is refused with the new most',
  async (clock) => {
    const limit = slidingWindow({ permits: 10, interval: 10_000 });
    const [a, b] = sharing(limit, limit);
    await b.acquire(10);
    const [big, small, behind] = [6, 2, 3].map((permits) => fateOf(b.acquire(permits)));
    await clock.tickAsync(100);
    await a.setRate(two);
    await clock.tickAsync(5000);
    for (const { reason, at } of [big, behind]) {
      assert.instance(reason, PermitsExceedLimitError);
      assert.is((reason as PermitsExceedLimitError).limit, 2);
      assert.ok(at! <= 2100, `${at}`);
    }
    assert.is(small.reason, undefined);
    assert.ok(small.value);
    assert.equal(b.stats().queued + b.stats().reserved, 0);
  },
);

test.run();
