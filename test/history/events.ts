import type { LimitSpec } from '../properties/specs.ts';

/*
 * The events that a process records of its requests, one JSON object per line. `at` is the wall clock of the process:
 * epoch milliseconds, of the machine that Redis runs on too. `id` identifies a request within its process. Moments are
 * times of the store.
 */

/** The first line of a history. */
export interface Started {
  event: 'started';
  at: number;
  process: string;
  limit: LimitSpec;
}

/** A request was made. Its `timeout` is in milliseconds; null means none. */
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

/** Permits of a granted request that are no longer used: the process has called `refund` or `settle`. */
export interface Returned {
  event: 'returned';
  at: number;
  id: number;
  permits: number;
}

/** A reserve call, after its reply: its reservations, and the store's time of its run. */
export interface Called {
  event: 'called';
  at: number;
  now: number;
  epoch: number;
  reserved: { moment: number; permits: number; count: number }[];
  /** Whether its client waits in order or in turns: the reply says when it is to call again. */
  hasTurn?: boolean;
}

/** A refund call, when it is sent: the refunded reservations and grants. */
export interface GaveBack {
  event: 'gaveBack';
  at: number;
  permits: number;
  /** The moments of these reservations and grants. */
  moments?: number[];
}

/**
 * A fault of the fleet, from `at` until `until`. `lost` is set if Redis lost data by it: at `at` exactly, or at an unknown time.
 */
export interface Fault {
  event: 'fault';
  at: number;
  until: number;
  kind: string;
  lost: boolean | 'sometime';
}

/** The process ended normally: all its requests have ended. */
export interface Stopped {
  event: 'stopped';
  at: number;
}

export type HistoryEvent = Started | Asked | Granted | Ended | Returned | Called | GaveBack | Fault | Stopped;
