import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import type { Limit } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { ControlledLedger, Grant, Reply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { fewLimits, limitOf, mostOf, record } from './specs.ts';

/** Consecutive steps at the same time, or within a millisecond, are frequent. */
const advance = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, 1, 300, 999, 1_000) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
);
const step = record({
  advance,
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant('take' as const) },
    fc.constantFrom('reserve', 'refund', 'decide', 'peek', 'pause', 'forget', 'setRate'),
  ),
  cost: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
  times: fc.integer({ min: 1, max: 5 }),
});

/** Limits that grant a cost several times in one millisecond. */
const roomyLimits = fewLimits.map((specs) =>
  specs.map((spec) =>
    spec.kind === 'tokenBucket' ? { ...spec, burst: spec.burst * 8 } : { ...spec, permits: spec.permits * 8 },
  ),
);

const result = <T>(call: (reply: Reply<T>) => void): T | undefined => {
  let replied: T | undefined;
  call((error, reply) => {
    if (error) throw error;
    replied = reply;
  });
  return replied;
};

/** Two ledgers of one client each, at the same time: one may repeat grants, the other commits each by itself. */
function twoLedgers(limits: readonly Limit[], clock: { now(): number }) {
  const config = { name: 'n', prefix: '', clientId: 'one', limits };
  const names = limits.map((_, i) => `limit ${i}`);
  const timed = { origin: 1e12, now: () => clock.now(), after: () => () => {} };
  return [0, 1].map(() => memoryStore().open({ ...config, names, clock: timed })) as [
    ControlledLedger,
    ControlledLedger,
  ];
}

let granted = 0;
promise(
  'grants of one millisecond that are committed together change the ledger like grants that are committed one by one',
  1_500,
  fc.tuple(roomyLimits, fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })),
  ([specs, steps]) => {
    let us = 0;
    const limits = specs.map(limitOf);
    const both = twoLedgers(limits, { now: () => us / 1000 });
    const [, oneByOne] = both;
    let last: Grant | undefined;
    let sequence = 0;
    // The first call creates the ledger.
    for (const ledger of both) result((reply) => ledger.peek(reply));
    for (const { advance, kind, cost: raw, times } of steps) {
      us += advance;
      const fitted = specs.map((spec, i) => Math.min(raw[i], mostOf(spec)));
      const cost = fitted.some((n) => n > 0) ? fitted : specs.map(() => 1);
      const runs = [{ count: times, cost, maxWait: times > 4 ? 50 : 0 }];
      const request = { runs, horizon: 20, held: 0, epoch: 0 };
      sequence++;
      const [actual, expected] = both.map((ledger) => {
        if (kind === 'take')
          return Array.from({ length: times }, () => {
            // A pause of no length changes nothing, but commits what was granted.
            if (ledger === oneByOne) result<number>((reply) => ledger.pause(0, reply));
            return ledger.take!(cost);
          });
        if (kind === 'reserve') return result((reply) => ledger.reserve(request, reply));
        if (kind === 'decide') return result((reply) => ledger.decide(cost, reply));
        if (kind === 'pause') return result<number>((reply) => ledger.pause(times, reply));
        if (kind === 'forget') return result<void>((reply) => ledger.forget({ rate: true }, reply));
        if (kind === 'setRate')
          return result<boolean>((reply) =>
            ledger.setRate({ limits: [...limits].reverse(), ifAbsent: false, keepState: times > 2 }, reply),
          );
        const refunds = last ? [{ ...last, count: 1 }] : [];
        if (kind === 'refund') return result((reply) => ledger.refund(refunds, sequence, reply));
        return result((reply) => ledger.peek(reply));
      });
      assert.deepEqual(actual, expected, `${kind} at ${us} µs`);
      if (kind !== 'take') continue;
      const grants = (actual as (Grant | undefined)[]).filter((grant) => grant !== undefined);
      granted += Math.max(0, grants.length - 1);
      last = grants[0] ?? last;
    }
  },
);

test('some grants were committed together', () => {
  assert.ok(granted > 1_000, `${granted}`);
});

test('within one millisecond, the same request is one grant', () => {
  let us = 1_300;
  const [ledger] = twoLedgers(
    [limitOf({ kind: 'fixedWindow', permits: 10, interval: 1000, align: 'first' })],
    {
      now: () => us / 1000,
    },
  );
  result((reply) => ledger.peek(reply));
  const at = (time: number) => {
    us = time;
    return ledger.take!([1]);
  };
  const first = at(1_300);
  assert.equal(at(1_001), first);
  assert.equal(at(1_999), first);
  const whole = at(2_000);
  assert.notEqual(whole, first);
  assert.equal(at(2_000), whole);
  assert.notEqual(at(2_001), whole);
});

test('grants of one millisecond count until the bucket is full again', () => {
  let us = 0;
  const bucket = limitOf({ kind: 'tokenBucket', permits: 10, interval: 10_000, burst: 10 });
  const [ledger] = twoLedgers([bucket], { now: () => us / 1000 });
  result((reply) => ledger.peek(reply));
  for (let i = 0; i < 10; i++) assert.ok(ledger.take!([1]));
  us = 5_000_000;
  assert.deepEqual(
    result<number[]>((reply) => ledger.peek(reply)),
    [5],
  );
});

test.run();
