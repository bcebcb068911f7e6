import { monotonicClock } from '../../src/clock.ts';
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { Limit } from '../../src/limits/limit.ts';
import type { Grant, Waiter } from '../../src/port/line.ts';
import type { Ledger, Store } from '../../src/stores/store.ts';

const name = 'line';

/** The ledger of one client of the limit that the tests' lines share. */
export function openLedger(store: Store, limit: Limit, clientId: string): Ledger {
  return store.open({ name, prefix: '', clientId, names: [''], limits: [limit], clock: monotonicClock() });
}

/** The line of one process, over a ledger of the test's choice. */
export function openLine(limit: Limit, ledger: Ledger, maxQueue = Infinity): Dispatcher {
  const named = { record: false, names: [''], limits: [limit] };
  return new Dispatcher({ name, named, ledger, clock: monotonicClock(), maxQueue });
}

/** How one request ended, and when by the clock of the test. */
export type Ending<T> = { data: T; at: number } & (
  | { what: 'granted'; grant: Grant }
  | { what: 'late'; retryAfter: number | undefined }
  | { what: 'refused'; error: Error }
);

/** A waiter that keeps what it hears. */
export interface Diary<T> extends Waiter<T> {
  readonly endings: Ending<T>[];
  /** What ended in that way, in the order in which it did. */
  all(what: Ending<T>['what']): T[];
}

export function diary<T>(): Diary<T> {
  const endings: Ending<T>[] = [];
  const at = () => performance.now();
  return {
    cancelsAll: true,
    endings,
    all: (what) => endings.filter((ending) => ending.what === what).map(({ data }) => data),
    granted: (grant, data) => endings.push({ data, at: at(), what: 'granted', grant }),
    denied: (retryAfter, data) => endings.push({ data, at: at(), what: 'late', retryAfter }),
    failed: (error, data) => endings.push({ data, at: at(), what: 'refused', error }),
  };
}
