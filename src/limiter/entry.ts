import type { Cost } from '../stores/store.ts';
import type { Block } from './block.ts';
import type { Link } from './chain.ts';
import type { Waiter } from './line.ts';

/** Where an entry stands: not sent, in a call that is under way, booked, or no longer in the line. */
export type Stage = 'queued' | 'sent' | 'booked' | 'gone';

/** Requests of one waiter that stand next to each other in the line and ask for the same. */
export class Entry implements Link<Entry> {
  previous: Entry | undefined;
  next: Entry | undefined;
  /** The entries of the same waiter before and after it. */
  older: Entry | undefined;
  newer: Entry | undefined;
  stage: Stage = 'queued';
  /** Where its moments are, while it is booked. */
  block: Block | undefined;
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

/** Whether two requests ask for the same. */
export function sameCost(a: Cost, b: Cost): boolean {
  return a === b || (a.length === b.length && a.every((n, i) => n === b[i]));
}
