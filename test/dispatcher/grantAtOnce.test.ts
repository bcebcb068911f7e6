import fc from 'fast-check';
import sinon from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import type { Ticket } from '../../src/port/line.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A step of a kind: how often it is made, and the numbers that it takes. */
const made = (kind: string, weight: number, n: number[], ms: number[]) => ({
  weight,
  arbitrary: fc.record({
    kind: fc.constant(kind),
    n: fc.constantFrom(...n),
    ms: fc.constantFrom(...ms),
    more: fc.constantFrom({}, {}, {}, { voidAfter: 0 }, { paused: 5 }, { retryAfter: 10 }),
  }),
});

const step = fc.oneof(
  made('ask', 6, [1, 2], [Infinity, Infinity, 0, 20]),
  made('count', 4, [1, 2], [0]),
  made('cancel', 2, [0, 1, 2, 3], [0]),
  made('answer', 6, [1, 1, 1, 3], [0, 0, 0, 0, 30, -1]),
  made('tick', 6, [0], [0, 0, 1, 25]),
  made('pause', 1, [0], [0, 10]),
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** All that can be observed of a line after each step of a history. */
function history(steps: readonly Step[], isPassive: boolean): unknown[] {
  const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
  try {
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger);
    const waiters = [0, 1].map(() => ({ ...recorder<number>(), cancelsAll: false, isPassive }));
    const tickets: Ticket[] = [];
    let [answered, refunded, count] = [0, 0, 0];
    const seen: unknown[] = [];
    for (const { kind, n, ms, more } of steps) {
      if (kind === 'ask') tickets.push(line.ask(waiters[0], [n], ms, count++));
      else if (kind === 'count') line.count(waiters[1], [n], count++);
      else if (kind === 'cancel' && tickets.length > 0) line.cancel(tickets[n % tickets.length] as never);
      else if (kind === 'pause')
        line.dispatcher.changes.pause(
          (done) => setTimeout(done, 2, null, ms),
          () => {},
        );
      else if (kind === 'tick') {
        clock.tick(ms);
        for (; refunded < ledger.refunds.length; refunded++) ledger.refunds[refunded].reply(null, {});
      } else if (kind === 'answer' && answered < ledger.reserves.length) {
        const { request, reply } = ledger.reserves[answered++];
        // The same for all runs, or another for the last one.
        const delays = request.runs.map((_, i) => (n === 1 || i === request.runs.length - 1 ? ms : 0));
        reply(null, replyTo(request, delays, more));
      }
      const endings = waiters.map((waiter) =>
        waiter.endings.map((ending) => [
          ending.data,
          ending.at,
          ending.what,
          'grant' in ending && ending.grant.moment,
        ]),
      );
      const refunds = ledger.refunds.map(({ refunds }) =>
        refunds.map(({ cost, count, moment }) => [cost, count, moment]),
      );
      const { queued, reserved, calls, granted } = line.stats;
      seen.push({ endings, refunds, queued, reserved, calls, granted });
    }
    return seen;
  } finally {
    sinon.restore();
  }
}

test('requests that are granted without a reservation end like all others', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      assert.equal(history(steps, true), history(steps, false));
    }),
    { numRuns: 2_000 },
  );
});

test.run();
