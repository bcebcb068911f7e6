// Windows of few permits whose clients refund most of them, in virtual time, against one queue that grants at once.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { againstIdeal, measured } from './againstIdeal.ts';
import { contend, waits } from './contend.ts';

/** What clients with one queued request each keep. */
const keptOf = (limit: Limit, clients: number, refund: number, refundWithin: number) =>
  againstIdeal(limit, clients, { ...waits, refund, refundWithin });

const interval = 1000;

for (const clients of [2, 4, 10])
  for (const [kind, limit] of [
    ['sliding window', slidingWindow({ permits: 10, interval })],
    ['fixed window', fixedWindow({ permits: 10, interval })],
  ] as const)
    for (const refundWithin of [5, 500])
      test(`${clients} clients keep a ${kind} of 10 a second whose permits are refunded within ${refundWithin} ms`, () => {
        const { part, longest, calls } = keptOf(limit, clients, 0.6, refundWithin);
        assert.ok(part >= 0.9, `${part} of the ideal`);
        assert.ok(longest < 3000, `a request waited for ${longest} ms`);
        assert.ok(calls < 2, `${calls} calls a permit`);
      });

for (const [permits, clients] of [
  [10, 10],
  [2, 2],
  [2, 10],
  [1, 10],
])
  for (const [kind, limit] of [
    ['sliding window', slidingWindow({ permits, interval })],
    ['fixed window', fixedWindow({ permits, interval })],
    ['bucket', tokenBucket({ permits, interval })],
  ] as const)
    for (const refund of [0.6, 0.9])
      test(`${clients} clients keep a ${kind} of ${permits} a second and refund ${refund * 100} %`, () => {
        const { part, longest, calls } = keptOf(limit, clients, refund, 5);
        assert.ok(part >= 0.9, `${part} of the ideal`);
        // A round of all clients, and the time for which one is overtaken.
        const most = (clients * interval) / permits + 5000;
        assert.ok(longest < most, `a request waited for ${longest} ms`);
        assert.ok(calls < 5, `${calls} calls a permit`);
      });

test('clients keep most of the rare permits if refunds come late', () => {
  for (const limit of [slidingWindow({ permits: 2, interval }), fixedWindow({ permits: 2, interval })])
    for (const refund of [0.6, 0.9]) {
      const { part } = keptOf(limit, 10, refund, 500);
      assert.ok(part >= 0.75, `${part} of the ideal when ${refund * 100} % are refunded`);
    }
});

for (const [clients, least] of [
  [2, 0.3],
  [10, 0.75],
])
  for (const [kind, limit] of [
    ['sliding window', slidingWindow({ permits: 1, interval })],
    ['fixed window', fixedWindow({ permits: 1, interval })],
    ['bucket', tokenBucket({ permits: 1, interval })],
  ] as const)
    test(`a client that refunds all permits leaves ${clients - 1} others most of their share of a ${kind}`, () => {
      const others = Array.from({ length: clients - 1 }, () => waits);
      const { kept } = contend({
        ...{
          limits: [limit],
          clients: [{ ...waits, refund: 1 }, ...others],
          ...measured,
          span: 60_000,
          seed: 1,
        },
      });
      const sum = kept.reduce((total, [n]) => total + n, 0);
      assert.ok(sum >= least * 60, `${sum} of 60 permits`);
    });

// The ideal queue does not fit buckets, as it keeps what overflows: the permits are counted.
for (const [permits, clients] of [
  [2, 2],
  [2, 10],
  [3, 10],
  [10, 2],
  [10, 10],
  [50, 16],
])
  test(`${clients} clients keep a bucket of ${permits} a second whose permits are refunded soon`, () => {
    for (const refund of [0.6, 0.9]) {
      const ofAll = keptOf(tokenBucket({ permits, interval }), clients, refund, 5).rate / permits;
      assert.ok(ofAll >= 0.9, `${ofAll} of the rate when ${refund * 100} % are refunded`);
    }
  });

for (const [permits, clients] of [
  [10, 2],
  [10, 10],
  [50, 16],
])
  test(`${clients} clients keep a bucket of ${permits} a second whose permits are refunded within half a second`, () => {
    const limit = tokenBucket({ permits, interval });
    for (const [refund, least] of [
      [0.6, 0.95],
      [0.9, 0.33],
    ]) {
      const ofAll = keptOf(limit, clients, refund, 500).rate / permits;
      assert.ok(ofAll >= least, `${ofAll} of the rate when ${refund * 100} % are refunded`);
    }
  });

test.run();
