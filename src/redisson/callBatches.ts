import type { Refund, Run } from '../stores/store.ts';

/** The most requests of one call, as each is an entry of the log. */
const mostRequests = 1024;

/** The runs of one call, and the number of requests of each further run that it leaves out. */
export function firstRuns(runs: readonly Run[]): { sent: Run[]; rest: number[] } {
  const sent: Run[] = [];
  const rest: number[] = [];
  let room = mostRequests;
  for (const run of runs) {
    const count = Math.min(room, run.count);
    room -= count;
    if (count > 0) sent.push({ ...run, count });
    if (count < run.count) rest.push(run.count - count);
  }
  return { sent, rest };
}

/** Merges the refunds of each call: the script keeps one refund number for each call. */
export function byCall(refunds: readonly Refund[]): { call: number; moment: number; permits: number }[] {
  const calls = new Map<number, { call: number; moment: number; permits: number }>();
  for (const { epoch, moment, cost, count } of refunds) {
    const known = calls.get(epoch);
    if (known) known.permits += cost[0] * count;
    else calls.set(epoch, { call: epoch, moment, permits: cost[0] * count });
  }
  return [...calls.values()];
}
