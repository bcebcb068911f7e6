import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { type ControlledLedger, newestGrants } from '../../src/stores/store.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 5, interval: 1000 });

/** A limiter over a ledger whose replies the test sends. */
function open() {
  const ledger = scriptedLedger(limit);
  const limiter = new RateLimiter({
    name: 'api',
    limit,
    store: { open: () => ledger as unknown as ControlledLedger },
  });
  return { ledger, limiter };
}

const wrong = new StoreError('api', new Error('WRONGTYPE'));

timed('a release resolves when the store has replied', async (clock) => {
  const { ledger, limiter } = open();
  const fate = fateOf(limiter.release(3));
  await clock.tickAsync(50);
  assert.is(fate.at, undefined);
  const [{ refunds, reply }] = ledger.refunds;
  assert.equal(
    refunds.map(({ moment, cost, count }) => [moment, cost, count]),
    [[newestGrants, [3], 1]],
  );
  reply(null);
  await clock.tickAsync(0);
  assert.is(fate.at, 50);
  assert.is(fate.reason, undefined);
});

timed('a release of nothing resolves without a call', async () => {
  const { ledger, limiter } = open();
  await limiter.release(0);
  assert.is(ledger.refunds.length, 0);
});

timed('a release that the store refuses rejects, and so do those of the same call alone', async (clock) => {
  const { ledger, limiter } = open();
  const first = [limiter.release(1), limiter.release(2)].map(fateOf);
  await clock.tickAsync(0);
  assert.is(
    ledger.refunds[0].refunds.reduce((sum, { cost, count }) => sum + cost[0] * count, 0),
    3,
  );
  const next = fateOf(limiter.release(1));
  await clock.tickAsync(0);
  assert.is(ledger.refunds.length, 1);
  ledger.refunds[0].reply(wrong);
  await clock.tickAsync(0);
  for (const { reason } of first) assert.is(reason, wrong);
  assert.is(next.at, undefined);
  ledger.refunds[1].reply(null);
  await clock.tickAsync(0);
  assert.is(next.at, 0);
  assert.is(next.reason, undefined);
});

timed('a refund that the store refuses resolves: its permits come back in time', async (clock) => {
  const { ledger, limiter } = open();
  const permit = fateOf(limiter.acquire());
  await clock.tickAsync(0);
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [0]));
  await clock.tickAsync(0);
  const refund = fateOf(permit.value!.refund());
  const release = fateOf(limiter.release(1));
  await clock.tickAsync(0);
  ledger.refunds[0].reply(wrong);
  await clock.tickAsync(0);
  assert.equal([refund.at, refund.reason], [0, undefined]);
  assert.is(release.reason, wrong);
});

timed('a denial is not remembered across a release', async (clock) => {
  const { ledger, limiter } = open();
  const refuse = (call: number) => {
    const { request, reply } = ledger.reserves[call];
    reply(null, replyTo(request, [], { segments: [{ count: 1, delay: -3, retryAfter: 1000 }] }));
  };
  // The first one needs no dispatcher, which remembers denials.
  ledger.decide = (_cost, reply) =>
    reply(null, { granted: false, available: [0], retryAfter: 1000, resetAfter: 1000 });
  assert.is(await limiter.tryAcquire(), false);
  // A round trip of some length, so that a denial is remembered for a while.
  const denied = fateOf(limiter.tryAcquire());
  await clock.tickAsync(100);
  refuse(0);
  await clock.tickAsync(0);
  assert.is(denied.value, false);
  assert.is(await limiter.tryAcquire(), false);
  assert.is(ledger.reserves.length, 1, 'it is remembered');
  fateOf(limiter.release(1));
  fateOf(limiter.tryAcquire());
  await clock.tickAsync(0);
  assert.is(ledger.reserves.length, 2);
  assert.is(ledger.refunds.length, 1);
  // A denial that was in flight during a release is not remembered either.
  fateOf(limiter.release(1));
  refuse(1);
  fateOf(limiter.tryAcquire());
  await clock.tickAsync(0);
  assert.is(ledger.reserves.length, 3);
});

test.run();
