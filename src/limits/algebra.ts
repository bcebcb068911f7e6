import type { Limit } from './limit.ts';

/** The permits that a state has taken, in terms common to all kinds of limit: for a change of kind. */
export interface Taken {
  /** Permits, rounded up. */
  permits: number;
  /** The newest moment at which any of them was granted or reserved. */
  newest: number;
}

/** How many entries of a log may still be forgotten; undefined before the first cut, and of other kinds of limit. */
export interface Room {
  entries?: number;
}

/**
 * A kind of limit: functions of a state and a time.
 *
 * Times are whole milliseconds of the state's own clock, which never goes back. `now` is the true time
 * rounded down, `at` the true time rounded up: the first moment that can still be granted. `lua/limits`
 * implements the same functions.
 */
export interface Algebra<L extends Limit, S> {
  /** The state of a limit with no permits taken. */
  create(limit: L): S;
  /**
   * A time up to `now` if `n` permits are free, otherwise the first moment when they will be, after all
   * reservations. With `isClear`, no reservation stands: a log tells of those that were refunded, or of their slots only.
   */
  earliest(state: S, now: number, at: number, n: number, isClear?: boolean): number;
  /** How many requests of `n` permits each can be granted at the moment `t`. */
  fit(state: S, now: number, t: number, n: number): number;
  /**
   * Whether `n` more permits can be granted at `at` so that all reservations still fit. Only the reservations
   * earlier than `before` are checked: the caller refunds as many permits at that moment, or passes Infinity.
   * `isFreed` tells whether at least as many permits have been refunded and not granted again. `unused` permits are those of
   * refunded reservations at `before`.
   */
  hasGap(
    state: S,
    now: number,
    at: number,
    n: number,
    before: number,
    isFreed: boolean,
    unused?: number,
  ): boolean;
  /**
   * The first moment, `t` or later, at which `n` permits are free ahead of reservations, all of which keep their moments. Infinity if
   * none is known. A grant before `at` is recorded at `at`.
   */
  freeBefore(state: S, t: number, n: number, at?: number): number;
  /** Records `n` permits granted at `t`, which may be ahead. `isKept` tells that they are never refunded. */
  commit(state: S, now: number, t: number, n: number, isKept?: boolean): void;
  /**
   * Refunds a grant or a reservation of `n` permits at `t`, as far as that cannot break the limit. Returns
   * how many permits were restored: 0 if the grant no longer counts. A bucket may restore a fraction of a
   * permit.
   */
  refund(state: S, now: number, t: number, n: number): number;
  /**
   * Refunds `n` permits of the newest grants up to now, but of no reservation, as far as that cannot break
   * the limit. Returns how many permits were restored.
   */
  release(state: S, now: number, at: number, n: number): number;
  /**
   * Forgets reservations later than `after`, a moment not before `now`. It may keep some that the state does
   * not tell apart from earlier ones. Returns how many permits no longer count, rounded down. Several cuts with
   * one `room` forget no more entries of a log than a single one may.
   */
  cut(state: S, now: number, after: number, room?: Room): number;
  /** The permits that are free now. Changes nothing. */
  available(state: S, now: number, at: number): number;
  /** The moment at which all permits will be free again. */
  full(state: S, now: number): number;
  /**
   * Brings the state up to `now`: forgets grants that no longer count. `shift` is how far its clock is ahead
   * of the server's. `isAlone` tells that it is the only limit of its ledger.
   */
  roll(state: S, now: number, shift: number, isAlone?: boolean): void;
  /**
   * Changes the state to another limit of the same kind. The permits taken carry over; `shift` is that of `roll`. Returns whether
   * earlier grants can no longer be refunded: a window of another grid may begin before grants that it does not count.
   */
  adopt(state: S, limit: L, shift: number): boolean | undefined;
  /** The permits taken, for a change of kind. */
  taken(state: S): Taken;
}
