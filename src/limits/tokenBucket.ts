import { small } from '../small.ts';
import type { Algebra } from './algebra.ts';
import { changeRate, cut, join, keep, leave } from './bucketHistory.ts';
import { chargedTo, freeBefore, heldAhead, leastAhead, levelThen } from './bucketLevel.ts';
import { heldAfter, roomAfter } from './bucketRoom.ts';
import { type BucketHistory, closed, forget, mixed, newestIn } from './bucketSteps.ts';
import type { TokenBucket } from './limit.ts';

/** A bucket. Its unit is 1/interval of a permit, so that no rate is rounded. */
export interface TokenBucketState extends BucketHistory {
  kind: 'tokenBucket';
  permits: number;
  interval: number;
  burst: number;
  /** Units in the bucket at `ts`; negative if permits are reserved ahead. */
  units: number;
  ts: number;
  /**
   * Units that are in the bucket at `ts` for requests ahead of the reservations, unless `units` tells of no fewer: a reservation that
   * waits for another limit finds the bucket full, so that a part of them is lost by then. They are fewer than none if those of the
   * next millisecond are reserved.
   */
  present: number | undefined;
  /**
   * When the permits taken under an earlier limit will be refilled. Until then, `units` may be negative
   * without a reservation.
   */
  owedUntil: number;
}

/** A request whose permits take this many milliseconds to refill may overtake reservations even if none was refunded. */
const leastWait = 20;

/**
 * A token bucket with reservations, after the lazy refill of Guava's SmoothRateLimiter and the cancellation
 * of Go's `x/time/rate`. It remembers more of its grants than these (see bucketSteps.ts), so that a fleet
 * which refunds reservations before the newest one keeps its rate. The twin of `lua/limits/token-bucket.lua`.
 */
export const tokenBucketAlgebra: Algebra<TokenBucket, TokenBucketState> = {
  create: ({ permits, interval, burst }) => ({
    kind: 'tokenBucket',
    permits: small(permits),
    interval: small(interval),
    burst: small(burst),
    units: small(burst * interval),
    ts: 0,
    present: undefined,
    owedUntil: 0,
    since: -1,
    until: -1,
    held: 0,
    earlier: undefined,
    lastAt: mixed,
    unsureUntil: 0,
    sameSince: 0,
    former: undefined,
  }),

  earliest(state, now, _at, n) {
    const cost = n * state.interval;
    const missing = cost - unitsAt(state, now);
    if (missing <= 0) return now;
    const t = now + Math.ceil(missing / state.permits);
    // Of more than 2^53 units, the quotient is rounded: it may be a millisecond early.
    return levelAt(state, now, t) < cost ? t + 1 : t;
  },

  fit(state, now, t, n) {
    return Math.floor(levelAt(state, now, t) / (n * state.interval));
  },

  hasGap(state, now, _at, n, before, isFreed) {
    const cost = n * state.interval;
    // A smaller request takes refunded permits only: it soon gets its fair share of the others.
    if (!isFreed && cost < leastWait * state.permits) return false;
    return leastAhead(state, now, now, presentAt(state, now) - cost, before) >= 0;
  },

  freeBefore(state, t, n) {
    const { ts, interval } = state;
    return freeBefore(state, ts, presentAt(state, ts), t, n * interval);
  },

  commit(state, now, t, n, isKept) {
    // Most grants are made without reservations: `units` tells of all permits then.
    if (state.present === undefined && Math.max(newestIn(state), t) <= now + 1) {
      charge(state, now, t, n, isKept);
      return;
    }
    const present = presentAt(state, now);
    const isAhead = t > chargedTo(state, now);
    const ahead = heldAhead(state, now) + (isAhead ? n : 0);
    const cost = n * state.interval;
    charge(state, now, t, n, isKept);
    // A reservation that has become one step with earlier grants counts as taken.
    const merged = (ahead - heldAhead(state, now)) * state.interval;
    setPresent(state, now, present - (isAhead ? 0 : cost) - merged);
  },

  refund(state, now, t, n) {
    const newest = newestIn(state);
    if (t > newest) return 0;
    const { permits, interval } = state;
    const cost = n * interval;
    const present = presentAt(state, now);
    const charged = chargedTo(state, now);
    const back = backOf(state, now, t, n, state.units, newest);
    // Refill that is lost before a reservation is no room for what was granted before. Without one, the levels are the same.
    const last = Math.min(newest, charged);
    const isSame = state.present === undefined && last === newest;
    const backNow = isSame ? back : t <= charged ? backOf(state, now, t, n, present, last) : 0;
    state.units += back;
    leave(state, t, n);
    // A reservation that was charged when the rate changed is owed no longer.
    if (t > Math.max(now, state.unsureUntil) && t < state.sameSince)
      state.owedUntil = Math.max(0, state.owedUntil - Math.floor(cost / permits));
    // The refill that was lost while the reservation waited for a pause or another limit comes back.
    if (t > now) raiseLevel(state, now, newestIn(state));
    setPresent(state, now, present + backNow);
    return back / interval;
  },

  release(state, now, at, n) {
    const { permits, interval, units } = state;
    const newest = newestIn(state);
    const reserved = heldAfter(state, at);
    // Of a level that counts so many reserved permits, up to `last`.
    const backTo = (level: number, held: number, last: number) => {
      const lost = held > 0 ? (last - at) * permits : 0;
      return Math.max(0, Math.min(n * interval, capOf(state) - level - held * interval) - lost);
    };
    const present = presentAt(state, now);
    const back = backTo(units, reserved, newest);
    const last = Math.min(newest, chargedTo(state, now));
    const backNow = backTo(present, reserved - heldAhead(state, now), last);
    state.units += back;
    setPresent(state, now, present + backNow);
    return back / interval;
  },

  cut(state, now, after) {
    const { taken } = tokenBucketAlgebra;
    const { permits } = taken(state);
    // A grant made now is recorded at `now` rounded up.
    const last = Math.max(after, now + 1);
    // Without grants after it, a step is refunded exactly, unless some of its reservations are void already.
    const sure = Math.max(last, state.unsureUntil);
    while (state.since > sure) tokenBucketAlgebra.refund(state, now, state.since, state.held);
    if (newestIn(state) > after) {
      raiseLevel(state, now, after);
      cut(state, last);
      state.present = undefined;
    }
    return Math.max(0, permits - taken(state).permits);
  },

  available(state, now) {
    return Math.max(0, Math.floor(unitsAt(state, now) / state.interval));
  },

  full(state, now) {
    return now + Math.ceil((capOf(state) - unitsAt(state, now)) / state.permits);
  },

  roll(state, now, _shift, isAlone) {
    // A new grant must not join reservations whose moment has come.
    if (state.lastAt > state.ts && state.lastAt <= now) state.lastAt = closed;
    const { ts, present } = state;
    const isKnown = present !== undefined && !isAlone;
    const level = isKnown ? levelThen(state, ts, present, now) : -Infinity;
    state.units = unitsAt(state, now);
    state.ts = now;
    if (state.units === capOf(state) && newestIn(state) < now) forget(state);
    if (present !== undefined) setPresent(state, now, level);
  },

  adopt(state, { permits, interval, burst }) {
    const former = state.interval;
    // In units of the former interval, then in those of the new one.
    const converted = (units: number) =>
      former === interval ? units : Math.ceil((units / former) * interval);
    const missing = capOf(state) - state.units;
    const taken = unitsTaken(state);
    const ahead = Math.max(0, newestIn(state) - state.ts);
    const missingThen = missing - ahead * state.permits;
    changeRate(state, state.ts);
    state.present = undefined;
    state.permits = small(permits);
    state.interval = small(interval);
    state.burst = small(burst);
    state.units = capOf(state);
    // Refill was lost before the newest reservation: until then, that at the new rate is lost too.
    const unitsThen = taken < missing ? converted(missingThen) + ahead * permits : 0;
    owe(state, Math.max(converted(taken), unitsThen));
  },

  taken: (state) => ({
    permits: Math.ceil(unitsTaken(state) / state.interval),
    newest: newestIn(state),
  }),
};

/** Charges units that were granted under another limit. The level may become negative: the refill covers that first. */
export function owe(state: TokenBucketState, units: number): void {
  state.units = Math.max(state.units - units, -Number.MAX_SAFE_INTEGER);
  state.owedUntil = state.ts + Math.max(0, Math.ceil(-state.units / state.permits));
}

function capOf({ burst, interval }: TokenBucketState): number {
  return burst * interval;
}

function unitsAt({ units, ts, permits, interval, burst }: TokenBucketState, now: number): number {
  const missing = burst * interval - units;
  // Compared before multiplying, as the product of a long time would not be exact.
  return now - ts >= missing / permits ? burst * interval : units + (now - ts) * permits;
}

/** Takes the units of a grant at `t`, and records it. */
function charge(state: TokenBucketState, now: number, t: number, n: number, isKept = false): void {
  const moment = chargedAt(state, now, t, n);
  const level = levelAt(state, now, moment);
  // If the request waits longer than its permits need, the bucket overflows. The surplus is lost.
  state.units = level - (moment - now) * state.permits - n * state.interval;
  state.ts = now;
  if (!isKept || !keep(state, t, n)) join(state, now, moment, t, n);
}

/** How many units of a grant at `t` come back to a level that counts the grants up to `last`. */
function backOf(
  state: TokenBucketState,
  now: number,
  t: number,
  n: number,
  level: number,
  last: number,
): number {
  const cost = n * state.interval;
  const taken = capOf(state) - level;
  // At most this much was or will be refilled since `t`, up to now or that moment. No more than that can overflow, so the rest of
  // the cost has room.
  const ran = (Math.max(now, last) - t + 1) * state.permits;
  const room = Math.max(
    roomAfter(state, now, t, n, taken, state, last),
    t >= state.sameSince ? cost - ran : 0,
  );
  return Math.max(0, Math.min(cost, room, taken));
}

/** The units that are in the bucket for requests ahead of the reservations: a lower bound. */
function presentAt(state: TokenBucketState, now: number): number {
  return state.present ?? unitsAt(state, now) + heldAhead(state, now) * state.interval;
}

/** Sets these units. Behind the reservations, no fewer are left than follow from them. */
function setPresent(state: TokenBucketState, now: number, present: number): void {
  const ahead = heldAhead(state, now) * state.interval;
  const level = Math.min(capOf(state), present);
  state.present = undefined;
  if (level <= state.units + ahead) return;
  const last = Math.max(now, newestIn(state));
  const left = levelThen(state, now, level, last) - (last - now) * state.permits;
  state.units = Math.max(state.units, left);
  if (level > state.units + ahead) state.present = level;
}

/**
 * The level just before a grant at `t`. A reservation is made for a whole millisecond, so the refill since
 * the fraction at which there were enough permits may exceed the capacity.
 */
function levelAt(state: TokenBucketState, now: number, t: number): number {
  return Math.min(capOf(state) + state.permits - 1, unitsAt(state, now) + (t - now) * state.permits);
}

/**
 * A grant made now is recorded at a time rounded up, but charged at `now`, so that a full bucket loses no
 * refill in between.
 */
function chargedAt(state: TokenBucketState, now: number, t: number, n: number): number {
  return t === now + 1 && n * state.interval <= unitsAt(state, now) ? now : t;
}

/**
 * No reservation is left after `last`, so the level there is not negative: every earlier reservation had its permits by
 * then, unless permits taken under an earlier limit are still to be refilled.
 */
function raiseLevel(state: TokenBucketState, now: number, last: number): void {
  const until = Math.max(now, last, state.owedUntil);
  state.units = Math.max(state.units, -(until - now) * state.permits);
  // Nor is one of an earlier rate.
  state.sameSince = Math.min(state.sameSince, Math.max(now + 1, last) + 1);
}

/** The units taken; not those that the bucket lacks because refill is lost before its reservations. */
function unitsTaken(state: TokenBucketState): number {
  const { units, ts, permits, interval, owedUntil } = state;
  const cap = capOf(state);
  const owed = Math.max(0, owedUntil - ts) * permits;
  return Math.min(cap - units, cap + heldAfter(state, ts) * interval + owed);
}
