import { slidingWindow } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import { openLine } from '../support/lines.ts';
import { booked, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A line whose replies are written by the test: rows of a count and a delay. */
export function writtenLine() {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const heard: [who: string, at: number][] = [];
  /** A waiter that only counts, as an operator's does. */
  const counter = (name: string): Waiter<undefined> => ({
    cancelsAll: true,
    granted: () => heard.push([name, performance.now()]),
    denied: () => heard.push([`${name} late`, performance.now()]),
    failed: () => heard.push([`${name} refused`, performance.now()]),
  });
  const answer = (rows: [count: number, delay: number][], more: Partial<ReserveReply> = {}) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    const segments = rows.map(([count, delay]) => ({ count, delay, retryAfter: 0 }));
    reply(null, booked(request, [], { segments, ...more }));
  };
  /** What the last call asked for: counts and costs. */
  const asked = () =>
    ledger.reserves[ledger.reserves.length - 1].request.runs.map(({ count, cost }) => [count, cost[0]]);
  const counts = () => {
    const { queued, reserved } = line.stats;
    return [queued, reserved];
  };
  return { ledger, line, heard, counter, answer, asked, counts };
}
