import type { Cost, Run } from '../stores/store.ts';
import { Entry, type EntryList, sameCost } from './entry.ts';
import type { Share } from './share.ts';

/** A run of a call, with the entries that it asks for. */
export interface SentRun extends Run {
  entries: Entry[];
}

/** At most so many runs go into a call: each costs the script its arguments. */
const mostRuns = 128;

/** Gathers what one call asks for, from the first entry that is not booked on, and marks it as sent. */
export function gather(line: EntryList, first: Entry | undefined, share: Share, now: number): SentRun[] {
  const runs: SentRun[] = [];
  let load = 0;
  let part = 0;
  for (let entry = first; entry; entry = entry.next) {
    const room = share.room(entry.cost, load, part);
    if (room === 0) break;
    const maxWait =
      entry.deadline === Infinity ? Infinity : entry.timeout === 0 ? 0 : Math.max(0, entry.deadline - now);
    const run = runFor(runs, entry.cost, maxWait);
    if (!run) break;
    if (room < entry.count) entry = splitFront(line, entry, room);
    entry.stage = 'sent';
    run.entries.push(entry);
    run.count += entry.count;
    load += share.loadOf(entry.cost) * entry.count;
    part += share.partOf(entry.cost) * entry.count;
  }
  return runs;
}

function runFor(runs: SentRun[], cost: Cost, maxWait: number): SentRun | undefined {
  const last = runs[runs.length - 1];
  if (last && last.maxWait === maxWait && sameCost(last.cost, cost)) return last;
  if (runs.length === mostRuns) return undefined;
  const run = { count: 0, cost, maxWait, entries: [] };
  runs.push(run);
  return run;
}

/** Puts the first `count` requests of an entry into one of their own, in front of the rest. */
export function splitFront(line: EntryList, entry: Entry, count: number): Entry {
  const front = new Entry(entry.waiter, entry.cost, count, entry.timeout, entry.deadline, entry.data);
  front.stage = entry.stage;
  entry.count -= count;
  line.insertBefore(front, entry);
  return front;
}
