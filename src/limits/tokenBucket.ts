import type { Algebra } from './algebra.ts';
import * as line from './bucketLine.ts';
import type { TokenBucket } from './limit.ts';

/** A bucket, in units of 1/interval of a permit, so that no rate is ever rounded. */
export interface TokenBucketState extends line.BucketLine {
  kind: 'tokenBucket';
  permits: number;
  interval: number;
  burst: number;
  /** What it holds at `ts`; negative when booked ahead. */
  units: number;
  ts: number;
  /** Permits that were booked since nothing was booked ahead: those whose moment has come since included. */
  booked: number;
  /** When what was taken under another limit will have run in: until then it may hold less than nothing. */
  owedUntil: number;
}

/**
 * A token bucket with reservations, after the lazy refill of Guava's SmoothRateLimiter and the cancellation of Go's
 * `x/time/rate`; what it knows of its line is our own, and lets a fleet that gives back from the middle of it keep its rate.
 */
export const tokenBucketAlgebra: Algebra<TokenBucket, TokenBucketState> = {
  create: ({ permits, interval, burst }) => ({
    kind: 'tokenBucket',
    permits,
    interval,
    burst,
    units: burst * interval,
    ts: 0,
    booked: 0,
    owedUntil: 0,
    ...line.emptyLine(),
  }),

  earliest(state, now, _at, n) {
    const missing = n * state.interval - unitsAt(state, now);
    return missing <= 0 ? now : now + Math.ceil(missing / state.permits);
  },

  fit(state, now, t, n) {
    return Math.floor(levelAt(state, now, t) / (n * state.interval));
  },

  // All that is booked counts by now: what is there besides is needed by none of it.
  hasGap: (state, now, _at, n) => unitsAt(state, now) >= n * state.interval,

  commit(state, now, t, n) {
    const moment = chargedAt(state, now, t, n);
    const level = levelAt(state, now, moment);
    if (t > now) state.booked = (state.tail > now ? state.booked : 0) + n;
    line.join(state, now, moment, t, n, state.burst);
    // Waiting longer than the permits need overflows the bucket: that is not credited.
    state.units = level - (moment - now) * state.permits - n * state.interval;
    state.ts = now;
  },

  refund(state, now, t, n) {
    if (t > state.tail) return 0;
    const { permits, interval } = state;
    const cost = n * interval;
    // What has run in since, or was booked for later, is at most that much: whatever came after, the rest has room.
    const ran = (Math.max(now, state.tail) - t + 1) * permits;
    const room = Math.max(
      line.roomAfter(state, now, t, n, capOf(state) - state.units, state),
      t >= state.sameSince ? cost - ran : 0,
    );
    const back = Math.max(0, Math.min(cost, room, capOf(state) - state.units));
    state.units += back;
    line.leave(state, t, n);
    if (t > now) state.booked = Math.max(0, state.booked - n);
    return back / interval;
  },

  release(state, now, _at, n) {
    const { permits, interval, units, tail } = state;
    // Which of the bookings have come since is not known: while any is ahead, all that were booked with it are left.
    const booked = tail > now ? state.booked * interval : 0;
    const taken = Math.max(0, capOf(state) - units - booked);
    const back = Math.max(0, Math.min(n * interval, taken) - Math.max(0, tail - now) * permits);
    state.units += back;
    return back / interval;
  },

  cut(state, now, after) {
    // Of the newest bookings it is known how many they are.
    if (state.lastAt > Math.max(after, state.lastAfter))
      tokenBucketAlgebra.refund(state, now, state.lastAt, state.lastCount);
    if (state.tail <= after) return;
    // What is booked before that moment has left the level there above nothing, once nothing is owed any more.
    const least = -(Math.max(after, state.owedUntil) - now) * state.permits;
    state.units = Math.max(state.units, least);
    // A grant at once has its moment rounded up.
    line.cut(state, after, Math.max(after, now + 1));
  },

  available(state, now) {
    return Math.max(0, Math.floor(unitsAt(state, now) / state.interval));
  },

  full(state, now) {
    return now + Math.ceil((capOf(state) - unitsAt(state, now)) / state.permits);
  },

  roll(state, now) {
    // Of the bookings whose moment has come, a grant at once is none.
    if (state.lastAt > state.ts && state.lastAt <= now) state.lastAt = -1;
    state.units = unitsAt(state, now);
    state.ts = now;
  },

  adopt(state, { permits, interval, burst }) {
    const taken = takenOf(state);
    line.changeRate(state, state.ts);
    Object.assign(state, { permits, interval, burst });
    state.units = burst * interval - Math.ceil(taken * interval);
    state.owedUntil = state.ts + Math.max(0, Math.ceil(-state.units / permits));
  },

  taken: (state) => ({ permits: Math.ceil(takenOf(state)), newest: state.tail }),
};

function capOf({ burst, interval }: TokenBucketState): number {
  return burst * interval;
}

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
  const brim = capOf(state) + (t > now ? state.permits - 1 : 0);
  return Math.min(brim, unitsAt(state, now) + (t - now) * state.permits);
}

/** A grant at once, whose moment is rounded up, is charged at the time rounded down: in between, a full bucket loses nothing. */
function chargedAt(state: TokenBucketState, now: number, t: number, n: number): number {
  return t === now + 1 && n * state.interval <= unitsAt(state, now) ? now : t;
}

/** Permits taken, not rounded. */
function takenOf({ units, interval, burst }: TokenBucketState): number {
  return (burst * interval - units) / interval;
}
