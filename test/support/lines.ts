import { monotonicClock } from '../../src/clock.ts';
import { LedgerLine } from '../../src/limiter/ledgerLine.ts';
import type { NamedLimits } from '../../src/limits/cost.ts';
import type { Limit } from '../../src/limits/limit.ts';
import type { Grant, Waiter } from '../../src/port/line.ts';
import type { Ledger, Store } from '../../src/stores/store.ts';

const name = 'line';

/** One limit without a name, or several ones. */
function named(limit: Limit | readonly Limit[]): NamedLimits {
  if (!Array.isArray(limit)) return { record: false, names: [''], limits: [limit as Limit] };
  return { record: true, names: limit.map((_, i) => `limit ${i}`), limits: limit };
}

/** The ledger of one client. All ledgers of a store share one limit. */
export function openLedger(store: Store, limit: Limit | readonly Limit[], clientId: string): Ledger {
  const { names, limits } = named(limit);
  return store.open({ name, prefix: '', clientId, names, limits, clock: monotonicClock() });
}

/** The line of one process, which has a dispatcher. */
export function openLine(
  limit: Limit | readonly Limit[],
  ledger: Ledger,
  maxQueue = Infinity,
): LedgerLine<number> {
  return new LedgerLine({ name, named: named(limit), ledger, clock: monotonicClock(), maxQueue });
}

/** The result of a request, and its time by the test's clock. */
export type Ending<T> = { data: T; at: number } & (
  | { what: 'granted'; grant: Grant }
  | { what: 'denied'; retryAfter: number | undefined }
  | { what: 'failed'; error: Error }
);

/** A waiter that records how its requests end. */
export interface Recorder<T> extends Waiter<T> {
  readonly endings: Ending<T>[];
  /** The data of the requests that ended in this way, in order. */
  all(what: Ending<T>['what']): T[];
}

export function recorder<T>(): Recorder<T> {
  const endings: Ending<T>[] = [];
  const at = () => performance.now();
  return {
    cancelsAll: true,
    endings,
    all: (what) => endings.filter((ending) => ending.what === what).map(({ data }) => data),
    granted: (grant, data) => endings.push({ data, at: at(), what: 'granted', grant }),
    denied: (retryAfter, data) => endings.push({ data, at: at(), what: 'denied', retryAfter }),
    failed: (error, data) => endings.push({ data, at: at(), what: 'failed', error }),
  };
}
