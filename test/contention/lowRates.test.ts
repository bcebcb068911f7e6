// Windows of few permits whose clients refund most of them, in virtual time, against one queue that grants at once.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { cases } from '../support/cases.ts';
import { againstIdeal, measured } from './againstIdeal.ts';
import { assertKept } from './assertKept.ts';
import { contend, waits } from './contend.ts';

/** What clients with one queued request each keep. */
const keptOf = (limit: Limit, clients: number, refund: number, refundWithin: number) =>
  againstIdeal(limit, clients, { ...waits, refund, refundWithin });

const interval = 1000;

type LimitOf = (permits: number) => Limit;
const windows: [kind: string, limitOf: LimitOf][] = [
  ['sliding window', (permits) => slidingWindow({ permits, interval })],
  ['fixed window', (permits) => fixedWindow({ permits, interval })],
];
const kinds: typeof windows = [...windows, ['bucket', (permits) => tokenBucket({ permits, interval })]];

for (const [clients, [kind, limitOf], refundWithin] of cases([2, 4, 10], windows, [5, 500]))
  test(`${clients} clients keep a ${kind} of 10 a second whose permits are refunded within ${refundWithin} ms`, () => {
    const { part, longest, calls } = keptOf(limitOf(10), clients, 0.6, refundWithin);
    assert.ok(part >= 0.94, `${part} of the ideal`);
    // In turns, a client may be ahead of another one by three requests.
    assert.ok(longest < (refundWithin > 5 ? 5000 : 3000), `a request waited for ${longest} ms`);
    // Ten clients wait in order for a sliding window: more calls, and shorter waits.
    const most = kind === 'sliding window' && clients === 10 ? 2.9 : refundWithin > 5 ? 2.4 : 2.1;
    assert.ok(calls < most, `${calls} calls a permit`);
  });

const rare = [
  [10, 10],
  [2, 2],
  [2, 10],
  [1, 10],
] as const;
for (const [[permits, clients], [kind, limitOf], refund] of cases(rare, kinds, [0.6, 0.9]))
  test(`${clients} clients keep a ${kind} of ${permits} a second and refund ${refund * 100} %`, () => {
    const { part, longest, calls } = keptOf(limitOf(permits), clients, refund, 5);
    assert.ok(part >= 0.9, `${part} of the ideal`);
    // A round of all clients, and the time for which one is overtaken.
    const most = (clients * interval) / permits + 5000;
    assert.ok(longest < most, `a request waited for ${longest} ms`);
    // Of ten clients that share one permit a second, the heartbeats alone are almost three calls a permit.
    assert.ok(calls < 5.5, `${calls} calls a permit`);
  });

/** Of single histories of so few permits, chance decides most. */
const many = { ...measured, warmUp: 6000, fade: interval, seeds: 16 };
const late = [
  [20, 10, 0.9, 0.95, 4.3],
  [20, 10, 0.6, 0.95, 2.2],
  [20, 10, 0.3, 0.95, 1.8],
  [15, 10, 0.9, 0.95, 3.9],
  [10, 10, 0.9, 0.95, 3.3],
  [10, 10, 0.6, 0.95, 2.6],
  [10, 10, 0.3, 0.95, 2.2],
  [10, 2, 0.9, 0.95, 3.3],
  [2, 10, 0.9, 0.94, 6.5],
  [2, 10, 0.6, 0.94, 6.5],
  [2, 2, 0.9, 0.94, 6.5],
] as const;
for (const [[permits, clients, refund, least, most], [kind, limitOf]] of cases(late, windows))
  test(`${clients} clients keep a ${kind} of ${permits} a second of which ${refund * 100} % are refunded late`, () => {
    const habits = { ...waits, refund, refundWithin: 500 };
    assertKept(againstIdeal(limitOf(permits), clients, habits, many), { part: least, calls: most });
  });

const shares = [
  [2, 0.3],
  [10, 0.75],
] as const;
for (const [[kind, limitOf], [clients, least]] of cases(kinds, shares))
  test(`a client that refunds all permits leaves ${clients - 1} others most of their share of a ${kind}`, () => {
    const others = Array.from({ length: clients - 1 }, () => waits);
    const { kept } = contend({
      ...{
        limits: [limitOf(1)],
        clients: [{ ...waits, refund: 1 }, ...others],
        ...measured,
        span: 60_000,
        seed: 1,
      },
    });
    const sum = kept.reduce((total, [n]) => total + n, 0);
    assert.ok(sum >= least * 60, `${sum} of 60 permits`);
  });

const buckets = [
  [2, 2],
  [2, 10],
  [3, 10],
  [10, 2],
  [10, 10],
  [50, 16],
] as const;
for (const [[permits, clients], refund] of cases(buckets, [0.6, 0.9]))
  test(`${clients} clients keep a bucket of ${permits} a second and refund ${refund * 100} % soon`, () => {
    const ofAll = keptOf(tokenBucket({ permits, interval }), clients, refund, 5).rate / permits;
    assert.ok(ofAll >= 0.9, `${ofAll} of the rate`);
  });

// What overflows a bucket meanwhile is lost in one queue, too.
for (const [[permits, clients], refund] of cases(buckets, [0.6, 0.9]))
  test(`${clients} clients keep a bucket of ${permits} a second and refund ${refund * 100} % within half a second`, () => {
    const habits = { ...waits, refund, refundWithin: 500 };
    const { part } = againstIdeal(tokenBucket({ permits, interval }), clients, habits, many);
    assert.ok(part >= (permits === 50 ? 0.82 : 0.94), `${part} of the ideal`);
  });

test.run();
