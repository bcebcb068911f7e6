import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PermitsExceedLimitError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { rejection } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { type SlowLedger, slowLedger } from '../support/slowLedger.ts';

const open = () => new RateLimiter({ name: 'api', limit: slidingWindow({ permits: 5, interval: 1000 }) });

timed('tryAcquire takes available permits, and returns false without a charge otherwise', async () => {
  const limiter = open();
  const answers = [];
  for (const permits of [3, 3, 2, 1]) answers.push(await limiter.tryAcquire(permits));
  assert.equal(answers, [true, false, true, false]);
  assert.is(await limiter.availablePermits(), 0);
});

timed('tryAcquire does not overtake waiting requests of this process', async (clock) => {
  const limiter = open();
  await limiter.acquire(3);
  const big = fateOf(limiter.acquire(4));
  assert.is(await limiter.tryAcquire(1), false);
  await clock.tickAsync(1000);
  assert.is(big.value?.waited, 1000);
  assert.is(await limiter.tryAcquire(1), true);
});

timed('tryAcquire waits for its timeout, if the permits come in time', async (clock) => {
  const limiter = open();
  await limiter.acquire(5);
  const fates = [999, 1000].map((timeout) => fateOf(limiter.tryAcquire(1, { timeout })));
  await clock.tickAsync(1000);
  assert.equal(times(fates), [0, 1000]);
  assert.equal(
    fates.map(({ value }) => value),
    [false, true],
  );
});

timed('tryAcquire is false only if permits are not available', async () => {
  const limiter = open();
  assert.instance(await rejection(limiter.tryAcquire(6)), PermitsExceedLimitError);
  await limiter.close();
  assert.is(((await rejection(limiter.tryAcquire())) as { code?: string }).code, 'ERR_SLUICE_CLOSED');
});

timed('a full queue does not refuse tryAcquire, which does not wait', async () => {
  const limit = slidingWindow({ permits: 5, interval: 1000 });
  const limiter = new RateLimiter({ name: 'api', limit, maxQueue: 1 });
  await limiter.acquire(5);
  fateOf(limiter.acquire());
  assert.is(await limiter.tryAcquire(), false);
});

/** A key of a group that is one millisecond from its store. */
function openKey() {
  const wires: SlowLedger[] = [];
  const store = memoryStore();
  const limit = slidingWindow({ permits: 5, interval: 1000 });
  const group = new RateLimiterGroup({
    name: 'api',
    limit,
    store: {
      open(config) {
        const ledger = store.open(config);
        const wire = slowLedger(ledger, { there: 1, back: 1 });
        wires.push(wire);
        return ledgerWith(ledger, wire);
      },
    },
  });
  const reserves = () => wires.reduce((sum, wire) => sum + wire.reserves.length, 0);
  return { limiter: group.get('acme'), reserves };
}

timed('tryAcquire of a key without requests is decided without a reserve call', async (clock) => {
  const { limiter, reserves } = openKey();
  const fates = [];
  for (const permits of [3, 2, 1]) {
    fates.push(fateOf(limiter.tryAcquire(permits)));
    await clock.tickAsync(10);
  }
  assert.equal(
    fates.map(({ value }) => value),
    [true, true, false],
  );
  assert.is(reserves(), 0);
  const late = rejection(limiter.tryAcquire(6));
  await clock.tickAsync(10);
  assert.instance(await late, PermitsExceedLimitError);
  assert.is(limiter.stats().granted, 2);
});

timed('requests behind an undecided tryAcquire keep their order, and go to the dispatcher', async (clock) => {
  const { limiter, reserves } = openKey();
  const fates = [3, 2, 1].map((permits) => fateOf(limiter.tryAcquire(permits)));
  await clock.tickAsync(10);
  assert.equal(
    fates.map(({ value }) => value),
    [true, true, false],
  );
  assert.ok(reserves() > 0);
});

timed('tryAcquire does not overtake waiting requests of a key', async (clock) => {
  const { limiter } = openKey();
  const fates = [fateOf(limiter.tryAcquire(3)), fateOf(limiter.acquire(4)), fateOf(limiter.tryAcquire())];
  await clock.tickAsync(10);
  assert.equal(
    fates.map(({ value }) => value),
    [true, undefined, false],
  );
  await clock.tickAsync(1000);
  assert.is(times(fates)[1]! >= 1000, true);
});

test.run();
