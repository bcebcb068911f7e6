import type { Limit } from './limit.ts';

/** What a state has taken, in the terms that every kind of limit understands: for a change of kind. */
export interface Taken {
  /** Permits, rounded up. */
  permits: number;
  /** The newest moment at which any of them counts as granted or booked. */
  newest: number;
}

/**
 * A limit: functions of a state and a time, and what a change of the limit needs.
 *
 * Times are whole milliseconds of the state's own clock, which never goes back. `now` is the true time rounded down,
 * `at` the true time rounded up: the first moment that can still be granted. The same functions stand in `lua/limits`.
 */
export interface Algebra<L extends Limit, S> {
  /** The state of a limit of which nothing is taken. */
  create(limit: L): S;
  /** A time up to `now` where `n` permits are free; else the first moment when they will be, after all that is booked. */
  earliest(state: S, now: number, at: number, n: number): number;
  /** How many requests of `n` permits each can be granted at the moment `t`. */
  fit(state: S, now: number, t: number, n: number): number;
  /**
   * Whether `n` permits more at `at` leave room for all that is booked ahead; for what is booked before the moment `before` alone,
   * where as many are given back for that one.
   */
  hasGap(state: S, now: number, at: number, n: number, before: number): boolean;
  /** Records `n` permits granted at `t`, which may lie ahead. */
  commit(state: S, now: number, t: number, n: number): void;
  /**
   * Takes a grant or a reservation of `n` permits at `t` back, as far as that cannot break the limit. Returns how many permits
   * that restores: 0 where what was granted no longer counts; a bucket may restore a part of a permit.
   */
  refund(state: S, now: number, t: number, n: number): number;
  /**
   * Takes `n` permits back from the newest grants up to now, none of them from a reservation, as far as that cannot break the
   * limit. Returns how many that restores.
   */
  release(state: S, now: number, at: number, n: number): number;
  /** Forgets what is booked for later than the moment `after`, which lies ahead; perhaps not all of it. */
  cut(state: S, now: number, after: number): void;
  /** Permits that could be granted at once. Changes nothing. */
  available(state: S, now: number, at: number): number;
  /** The moment at which all permits will be free again. */
  full(state: S, now: number): number;
  /** Brings the state up to `now`: forgets what no longer counts. `shift` is what its clock is ahead of the server's by. */
  roll(state: S, now: number, shift: number): void;
  /** The same state under another limit of the same kind, by what is taken. */
  adopt(state: S, limit: L): void;
  /** What is taken, for a change of kind. */
  taken(state: S): Taken;
}
