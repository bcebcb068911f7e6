import type { Cost } from '../stores/store.ts';
import type { Waiter } from './line.ts';

/** Where an entry stands: not sent, in a call that is under way, booked, or no longer in the line. */
export type Stage = 'queued' | 'sent' | 'booked' | 'gone';

/** Requests of one waiter that stand next to each other in the line and ask for the same. */
export class Entry {
  previous: Entry | undefined;
  next: Entry | undefined;
  /** The entries of the same waiter before and after it. */
  older: Entry | undefined;
  newer: Entry | undefined;
  stage: Stage = 'queued';
  /** Its place in the heap of deadlines, or -1. */
  place = -1;

  constructor(
    readonly waiter: Waiter<unknown>,
    readonly cost: Cost,
    /** Requests: more than one only where nothing tells them apart. */
    public count: number,
    /** Milliseconds that the requests may wait. */
    readonly timeout: number,
    /** By the line's clock. */
    readonly deadline: number,
    readonly data: unknown,
  ) {}
}

/** Entries in the order in which they were asked for. Any of them can leave at once. */
export class EntryList {
  first: Entry | undefined;
  last: Entry | undefined;

  append(entry: Entry): void {
    entry.previous = this.last;
    if (this.last) this.last.next = entry;
    else this.first = entry;
    this.last = entry;
  }

  insertBefore(entry: Entry, next: Entry): void {
    entry.previous = next.previous;
    entry.next = next;
    if (next.previous) next.previous.next = entry;
    else this.first = entry;
    next.previous = entry;
  }

  remove(entry: Entry): void {
    if (entry.previous) entry.previous.next = entry.next;
    else this.first = entry.next;
    if (entry.next) entry.next.previous = entry.previous;
    else this.last = entry.previous;
    entry.previous = undefined;
    entry.next = undefined;
    entry.stage = 'gone';
  }
}

/** Whether two requests ask for the same. */
export function sameCost(a: Cost, b: Cost): boolean {
  return a === b || (a.length === b.length && a.every((n, i) => n === b[i]));
}
