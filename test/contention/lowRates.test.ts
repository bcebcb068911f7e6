// Windows of few permits whose clients refund most of them, in virtual time, against one queue that grants at once.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow } from '../../src/limits/limit.ts';
import { contend } from './contend.ts';
import { ideal } from './ideal.ts';

const measured = { roundTrip: 1, warmUp: 3000, span: 30_000, seed: 1 };

/** The kept part of what the ideal queue keeps, and the longest wait in milliseconds. */
function keptOf(limit: Limit, clients: number, refund: number, refundWithin: number) {
  const habits = {
    ...{ waiting: 1, costs: [[1]], cancel: 0, cancelWithin: 1, refund, refundWithin, part: 1 },
  };
  const contention = { limits: [limit], clients: Array.from({ length: clients }, () => habits), ...measured };
  const { kept, longest, granted, calls } = contend(contention);
  const part = kept.reduce((sum, [n]) => sum + n, 0) / ideal(contention)[0];
  return { part, longest, calls: calls / granted };
}

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
        assert.ok(longest < 2500, `a request waited for ${longest} ms`);
        assert.ok(calls < 2, `${calls} calls a permit`);
      });

test('2 clients keep most of 2 permits a second', () => {
  const sliding = slidingWindow({ permits: 2, interval });
  for (const refund of [0.6, 0.9]) {
    const { part } = keptOf(sliding, 2, refund, 5);
    assert.ok(part >= 0.7, `${part} of the ideal when ${refund * 100} % are refunded`);
  }
});

test('10 clients on 2 permits a second keep at least what is not refunded', () => {
  for (const limit of [slidingWindow({ permits: 2, interval }), fixedWindow({ permits: 2, interval })]) {
    const { part } = keptOf(limit, 10, 0.6, 5);
    assert.ok(part >= 0.4, `${part} of the ideal`);
  }
});

test.run();
