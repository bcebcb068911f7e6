import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import type { LimitState } from '../../limits/states.ts';
import type { Contenders } from './contenders.ts';

/**
 * The state of one limiter. Times are milliseconds of the ledger's own clock: the server's, plus `shift`. A step back of the
 * server's clock increases `shift`, so that no request waits for the clock to catch up. In Redis, `lua/ledger/format.lua`
 * stores it.
 *
 * Its lists are replaced, never changed, so that all ledgers share the empty one: a store may hold millions of ledgers, most of
 * which need no list.
 */
export interface LedgerState {
  /** Unique. Changes whenever reservations become void or are counted in another way. */
  epoch: number;
  /** The first epoch of this ledger. Grants of older ones are not recorded in it. */
  born: number;
  /**
   * Grants of this epoch or later can be refunded. Older ones used another clock or were counted by another
   * kind of limit.
   */
  refundable: number;
  shift: number;
  /** The latest time at which the ledger was opened. */
  seen: number;
  /** When the ledger may be forgotten. */
  expires: number;
  /** Under contention, each window grants nothing before its moment: by the index of its limit, 0 if it has none. */
  frontiers: readonly number[];
  /** Until when the frontiers apply after contention has ended. */
  pacedUntil: number;
  /**
   * Milliseconds of load that were granted lately, and the part of them that was refunded. The pace counts only
   * the rest.
   */
  granted: number;
  returned: number;
  /**
   * Refunded reservations whose moment is before the newest one, in order. The next requests that fit into one
   * take it over.
   */
  holes: readonly Hole[];
  contenders: Contenders;
  /** The last changes that voided reservations, the oldest first. */
  voids: readonly Void[];
  /**
   * Milliseconds of load that were refunded and not granted again since reservations last moved up, and the
   * moment of that move.
   */
  freed: number;
  movedAt: number;
  /** The moment of the last refund that came later than a third of the interval after its grant. */
  lateAt: number;
  /** Milliseconds of load for which reservations became void: by these, frontiers need not move. */
  credit: number;
  /** The load in milliseconds of the largest request that waits, or was reserved lately, under contention; and until when it counts. */
  largest: number;
  largestUntil: number;
  /** The longest horizon in milliseconds of a contender that called lately, and until when it counts. */
  farthest: number;
  farthestUntil: number;
  /** The clients that wait for rare permits or for their turn, in order. */
  tickets: readonly Ticket[];
  /** The debts that were charged ahead, those of each limit in the order of their moments: see `remember` in debts.ts. */
  debts: readonly Debt[];
  /** The end of the pause in the limiter's control. */
  pausedUntil: number;
  names: readonly string[];
  limits: LimitState[];
  /** The state of the only limit, if `limits` makes a list of it; otherwise undefined. */
  sole: LimitState | undefined;
  /** The limits whose states these are. */
  under: readonly Limit[];
}

/**
 * A refunded reservation for `count` requests of one cost. It is still charged, and the next requests that fit
 * into it take it over.
 */
export interface Hole {
  moment: number;
  cost: Cost;
  count: number;
}

/**
 * The place of a client in the order of clients that wait for rare permits, and its part of what clients share in turns. Such a
 * client reserves nothing far ahead: it calls again when its turn comes.
 */
export interface Ticket {
  client: string;
  /** Its turn, as it was computed when the client joined, or the time at which it is likely to call again: milliseconds. */
  due: number;
  /** When it is forgotten, unless the client calls again: milliseconds. */
  until: number;
  /**
   * Milliseconds by which it delays the clients behind it: the load of its next request; or, if none waits yet, less than 0: that
   * of its last one.
   */
  stride: number;
  /** Milliseconds of load that the client has taken in its turns: see `takenBy`. */
  taken: number;
}

/**
 * Permits of a limit that were used without a grant. They are charged ahead as reservations are, but are not void when those are.
 */
export interface Debt {
  /** The index of the limit. */
  limit: number;
  /** The last moment at which some of them were charged: milliseconds; 0 if they are not charged yet, or no more. */
  until: number;
  /** Those that were charged ahead. */
  permits: number;
  /** Those of them that were charged in the slot of the last moment. */
  tail: number;
}

/** The server's time by the ledger's clock. */
export interface Instant {
  /** Whole microseconds. */
  us: number;
  /** Milliseconds, rounded down. */
  now: number;
  /** Milliseconds, rounded up: the first moment that can be granted. */
  at: number;
}

/** A change that voided the reservations for `from` or later that were made before `epoch`. */
export interface Void {
  epoch: number;
  /** Milliseconds. */
  from: number;
}
