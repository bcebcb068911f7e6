import type { LimitSpec } from '../properties/specs.ts';

/*
 * What a process writes of what it asked for and got, one JSON object per line. `at` is the wall clock of the process:
 * epoch milliseconds, of the machine that Redis runs on too. `id` names a request within its process. Moments are times of the store.
 */

/** The first line of a history. */
export interface Started {
  event: 'started';
  at: number;
  process: string;
  limit: LimitSpec;
}

/** A request was made. It may wait for `timeout` ms; null is without an end. */
export interface Asked {
  event: 'asked';
  at: number;
  id: number;
  permits: number;
  timeout: number | null;
}

/** The request was granted. */
export interface Granted {
  event: 'granted';
  at: number;
  id: number;
  moment: number;
  source: 'redis' | 'memory' | 'fallback';
}

/** The request ended without permits. */
export interface Ended {
  event: 'refused' | 'cancelled' | 'failed';
  at: number;
  id: number;
  /** Of a failed one. */
  error?: string;
}

/** So many permits of a granted request are no longer used: the process has called `refund` or `settle`. */
export interface Returned {
  event: 'returned';
  at: number;
  id: number;
  permits: number;
}

/** A reserve call, once it has been answered: what it reserved, and when by the store's time it was run. */
export interface Called {
  event: 'called';
  at: number;
  now: number;
  epoch: number;
  reserved: { moment: number; permits: number; count: number }[];
}

/** A refund call, when it is sent: reservations and grants that the process gives back to the store. */
export interface GaveBack {
  event: 'gaveBack';
  at: number;
  permits: number;
}

/** Something was done to the fleet, from `at` until `until`. Where Redis lost its data by it, `lost` says so. */
export interface Fault {
  event: 'fault';
  at: number;
  until: number;
  kind: string;
  lost: boolean;
}

/** The process ended in good order: all its requests have ended. */
export interface Stopped {
  event: 'stopped';
  at: number;
}

export type HistoryEvent = Started | Asked | Granted | Ended | Returned | Called | GaveBack | Fault | Stopped;
