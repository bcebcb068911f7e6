import { type Limit, slidingWindow } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import { openLine } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

/** A dispatcher whose replies the test writes: rows of a count and a delay. */
export function writtenLine(limit: Limit = slidingWindow({ permits: 1000, interval: 1000 })) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded: [who: string, at: number][] = [];
  /** A waiter of counted requests, like an operator. */
  const counter = (name: string): Waiter<undefined> => ({
    cancelsAll: true,
    granted: () => recorded.push([name, performance.now()]),
    denied: () => recorded.push([`${name} late`, performance.now()]),
    failed: () => recorded.push([`${name} refused`, performance.now()]),
  });
  const answer = (rows: [count: number, delay: number][], more: Partial<ReserveReply> = {}) => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    const segments = rows.map(([count, delay]) => ({ count, delay, retryAfter: 0 }));
    reply(null, replyTo(request, [], { segments, ...more }));
  };
  /** Counts and costs of the last call's runs. */
  const asked = () =>
    ledger.reserves[ledger.reserves.length - 1].request.runs.map(({ count, cost }) => [count, cost[0]]);
  const counts = () => {
    const { queued, reserved } = line.stats;
    return [queued, reserved];
  };
  return { ledger, line, recorded, counter, answer, asked, counts };
}
