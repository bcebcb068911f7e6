import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import type { LimitState } from '../../limits/states.ts';
import type { Contenders } from './contenders.ts';

/**
 * All that is known of one limiter. Times are milliseconds of the ledger's own clock: the server's, moved on by `shift`
 * whenever that has stepped back, so that nobody waits for it to catch up. The twin of `lua/ledger/state.lua`.
 */
export interface LedgerState {
  /** Unique; changes whenever bookings are made void, or counted in another way. */
  epoch: number;
  /** The first epoch: of older ones nothing is known. */
  born: number;
  /** The epoch since which grants can be given back: older ones were told by another clock, or counted by another kind of limit. */
  refundable: number;
  shift: number;
  /** The latest now. */
  seen: number;
  /** When the ledger may be forgotten. */
  expires: number;
  /** While there is contention, windows grant nothing before it. */
  frontier: number;
  /** Until when the frontier holds after the contention. */
  pacedUntil: number;
  /** Milliseconds of load that were granted of late, and those of them that were given back: a pace counts what is kept. */
  granted: number;
  returned: number;
  /** Reservations that were given back from the middle of the line, by their moments: the next to come takes them over. */
  holes: Hole[];
  contenders: Contenders;
  /** The last changes that made bookings void, the oldest first. */
  voids: Void[];
  /** Milliseconds of load that came back and is not granted again, since bookings were last made void for it; and when that was. */
  freed: number;
  movedAt: number;
  /** Milliseconds by which the frontier need not move: room that a move of the line has left. */
  credit: number;
  /** The end of a pause, of the limiter's control. */
  pausedUntil: number;
  names: readonly string[];
  limits: LimitState[];
  /** The limits that these are the states of. */
  under: readonly Limit[];
  /** The last sequence of refunds of each limiter, and until when it is remembered; undefined until there is one. */
  sequences: Map<string, { last: number; until: number }> | undefined;
}

/** Requests of a cost whose reservation is charged, and free for whoever asks for the same. */
export interface Hole {
  moment: number;
  cost: Cost;
  count: number;
}

/** The server's time as the ledger sees it. */
export interface Instant {
  /** Microseconds, whole: the true now. */
  us: number;
  /** Milliseconds, rounded down. */
  now: number;
  /** Milliseconds, rounded up: the first moment that can be granted. */
  at: number;
}

/** A change that made void what was booked for the moment `from` or later under an epoch before `epoch`. */
export interface Void {
  epoch: number;
  /** Milliseconds. */
  from: number;
}
