import type { Algebra } from './algebra.ts';
import type { TokenBucket } from './limit.ts';

/** A bucket, in units of 1/interval of a permit, so that no rate is ever rounded. */
export interface TokenBucketState {
  kind: 'tokenBucket';
  permits: number;
  interval: number;
  burst: number;
  /** What it holds at `ts`; negative when booked ahead. */
  units: number;
  ts: number;
  /** The newest moment committed. */
  tail: number;
  /** Permits that were booked since nothing was booked ahead: those whose moment has come since included. */
  booked: number;
  /** When what was taken under another limit will have run in: until then it may hold less than nothing. */
  owedUntil: number;
  /** The highest level since the moment `since0`, before any booking: what a refund must leave room for. */
  since0: number;
  peak0: number;
  /** The same since the later moment `since1`, which takes over once it has come. */
  since1: number;
  peak1: number;
}

/**
 * A token bucket with reservations, after the lazy refill of Guava's SmoothRateLimiter and the cancellation of Go's
 * `x/time/rate`; the peaks are our own, and let a fleet that cancels from the middle of its line keep its rate.
 */
export const tokenBucketAlgebra: Algebra<TokenBucket, TokenBucketState> = {
  create: ({ permits, interval, burst }) => ({
    kind: 'tokenBucket',
    permits,
    interval,
    burst,
    units: burst * interval,
    ts: 0,
    tail: 0,
    booked: 0,
    owedUntil: 0,
    since0: 0,
    peak0: 0,
    since1: 0,
    peak1: 0,
  }),

  earliest(state, now, _at, n) {
    const missing = n * state.interval - unitsAt(state, now);
    return missing <= 0 ? now : now + Math.ceil(missing / state.permits);
  },

  fit(state, now, t, n) {
    return Math.floor(levelAt(state, now, t) / (n * state.interval));
  },

  commit(state, now, t, n) {
    const moment = chargedAt(state, now, t, n);
    const level = levelAt(state, now, moment);
    if (t > now) {
      notePeak(state, now, t, level);
      state.booked = (state.tail > now ? state.booked : 0) + n;
    }
    // Waiting longer than the permits need overflows the bucket: that is not credited.
    state.units = level - (moment - now) * state.permits - n * state.interval;
    state.ts = now;
    state.tail = Math.max(state.tail, t);
  },

  refund(state, now, t, n) {
    const { permits, interval, burst } = state;
    const cap = burst * interval;
    const cost = n * interval;
    turnPeaks(state, now);
    // What was booked after it, or has come back since, must not be restored twice.
    let back = Math.max(0, cost - Math.max(0, Math.max(now, state.tail) - t) * permits);
    if (t > now && t >= state.since0) {
      // Where the bucket never came near its brim after t, more can be put back without overflowing it.
      const peak = t >= state.since1 ? state.peak1 : state.peak0;
      back = Math.max(back, Math.min(cost, cap - Math.max(peak, state.units)));
    }
    state.units = Math.min(cap, state.units + back);
    state.peak0 += back;
    state.peak1 += back;
    if (t > now) state.booked = Math.max(0, state.booked - n);
  },

  release(state, now, _at, n) {
    const { permits, interval, burst, units, tail } = state;
    // Which of the bookings have come since is not known: while any is ahead, all that were booked with it are left.
    const booked = tail > now ? state.booked * interval : 0;
    const taken = Math.max(0, burst * interval - units - booked);
    const back = Math.max(0, Math.min(n * interval, taken) - Math.max(0, tail - now) * permits);
    state.units += back;
    state.peak0 += back;
    state.peak1 += back;
  },

  cut(state, now, after) {
    if (state.tail <= after) return;
    // What is booked before that moment has left the level there above nothing, once nothing is owed any more.
    state.units = Math.max(state.units, -(Math.max(after, state.owedUntil) - now) * state.permits);
    state.tail = after;
    forgetPeaks(state);
  },

  available(state, now) {
    return Math.max(0, Math.floor(unitsAt(state, now) / state.interval));
  },

  full(state, now) {
    return now + Math.ceil((state.burst * state.interval - unitsAt(state, now)) / state.permits);
  },

  roll(state, now) {
    state.units = unitsAt(state, now);
    state.ts = now;
  },

  adopt(state, { permits, interval, burst }) {
    const taken = takenOf(state);
    Object.assign(state, { permits, interval, burst });
    state.units = burst * interval - Math.ceil(taken * interval);
    state.owedUntil = state.ts + Math.max(0, Math.ceil(-state.units / permits));
    forgetPeaks(state);
  },

  taken: (state) => ({ permits: Math.ceil(takenOf(state)), newest: state.tail }),
};

function unitsAt({ units, ts, permits, interval, burst }: TokenBucketState, now: number): number {
  const missing = burst * interval - units;
  // Compared before it is multiplied: a product of a long time would not be exact.
  return now - ts >= missing / permits ? burst * interval : units + (now - ts) * permits;
}

/**
 * What the bucket holds at t, just before a grant there. What is booked lies on a whole millisecond: what has run in since the
 * moment between two of them at which there was enough may lie above the brim.
 */
function levelAt(state: TokenBucketState, now: number, t: number): number {
  const { permits, interval, burst } = state;
  const brim = burst * interval + (t > now ? permits - 1 : 0);
  return Math.min(brim, unitsAt(state, now) + (t - now) * permits);
}

/** A grant at once, whose moment is rounded up, is charged at the time rounded down: in between, a full bucket loses nothing. */
function chargedAt(state: TokenBucketState, now: number, t: number, n: number): number {
  return t === now + 1 && n * state.interval <= unitsAt(state, now) ? now : t;
}

/** Permits taken, not rounded. */
function takenOf({ units, interval, burst }: TokenBucketState): number {
  return (burst * interval - units) / interval;
}

/** Keeps the highest level before any booking of this phase: bookings form a phase while the newest of them lies ahead. */
function notePeak(state: TokenBucketState, now: number, t: number, level: number): void {
  turnPeaks(state, now);
  if (state.tail <= now) {
    state.since0 = t;
    state.since1 = t;
    state.peak0 = level;
    state.peak1 = level;
    return;
  }
  state.peak0 = Math.max(state.peak0, level);
  state.peak1 = Math.max(state.peak1, level);
}

/** Once the later moment has come, its peak takes the place of the earlier one, and a new one begins at the tail. */
function turnPeaks(state: TokenBucketState, now: number): void {
  if (now < state.since1) return;
  state.since0 = state.since1;
  state.peak0 = state.peak1;
  state.since1 = state.tail;
  state.peak1 = 0;
}

function forgetPeaks(state: TokenBucketState): void {
  // Nothing can be known of the levels before: no refund of what was booked before may use them.
  state.since0 = state.tail + 1;
  state.since1 = state.tail + 1;
  state.peak0 = 0;
  state.peak1 = 0;
}
