import type { Algebra } from './algebra.ts';
import type { SlidingWindow } from './limit.ts';
import { hasGap, insert } from './slidingGap.ts';

/** The log of a sliding window: from `head` on, slots in order of time, each with its count. */
export interface SlidingWindowState {
  kind: 'slidingWindow';
  permits: number;
  interval: number;
  resolution: number;
  /** The coarsest resolution of any slot in the log. */
  coarsest: number;
  /** The sum of the counts. */
  total: number;
  /** The newest moment granted or reserved, not rounded. */
  newest: number;
  /** The newest time of any entry that was removed from the log. */
  purged: number;
  times: number[];
  counts: number[];
  head: number;
}

/**
 * The most expired entries that one call removes. `fit` and `earliest` skip the rest, so the reply is exact
 * all the same.
 */
const purgeLimit = 1024;
/** The most empty entries that one refund removes at the end. */
const popLimit = 64;
/** The most entries that one release examines. */
const releaseLimit = 1024;
/** The most entries that one call removes at the end when reservations become void. */
const cutLimit = 2048;
/** From this many entries on, a log gets new ones only a thousandth of the interval apart. */
const mostEntries = 2048;

/** Up to so many entries, a log has no room for more. */
const fewEntries = 8;

/**
 * A log of (time, count), one entry per `resolution`: the usual sliding-window log with rounded times. The
 * twin of `lua/limits/sliding-window.lua`.
 */
export const slidingWindowAlgebra: Algebra<SlidingWindow, SlidingWindowState> = {
  create: ({ permits, interval, resolution }) => ({
    kind: 'slidingWindow',
    permits,
    interval,
    resolution,
    coarsest: resolution,
    total: 0,
    newest: 0,
    purged: -1,
    times: [],
    counts: [],
    head: 0,
  }),

  earliest(state, now, at, n) {
    let taken = state.total;
    let free = now;
    for (let i = state.head; taken + n > state.permits && i < state.times.length; i++) {
      taken -= state.counts[i];
      free = state.times[i] + state.interval;
    }
    // The log grows at its end only, and no request overtakes a reservation.
    return state.newest > at ? Math.max(free, state.newest) : free;
  },

  fit(state, _now, t, n) {
    let taken = state.total;
    for (let i = state.head; i < state.times.length && state.times[i] <= t - state.interval; i++)
      taken -= state.counts[i];
    return Math.floor((state.permits - taken) / n);
  },

  hasGap,

  commit(state, _now, t, n) {
    const last = state.times.length - 1;
    const own = slotOf(state, t);
    state.total += n;
    if (t < state.newest && own < state.times[last]) {
      insert(state, own, n);
      return;
    }
    // After a change of resolution, the last slot may be later than this one.
    const slot = last < state.head ? own : Math.max(own, state.times[last]);
    if (last >= state.head && state.times[last] === slot) state.counts[last] += n;
    else if (last < 0) {
      // Arrays of their length, as long as they are short: `push` would make room for 16 more.
      state.times = [slot];
      state.counts = [n];
    } else if (last < fewEntries) {
      state.times = state.times.concat([slot]);
      state.counts = state.counts.concat([n]);
    } else {
      state.times.push(slot);
      state.counts.push(n);
    }
    state.newest = Math.max(state.newest, t);
  },

  refund(state, now, t, n) {
    // If the entry of the grant was removed, `find` would return the entry of another grant.
    if (t <= state.purged) return 0;
    const index = find(state, t);
    const time = state.times[index];
    if (time === undefined || time - t >= state.coarsest || time <= now - state.interval) return 0;
    const back = Math.min(n, state.counts[index]);
    state.counts[index] -= back;
    state.total -= back;
    dropEmptyEnd(state);
    return back;
  },

  release(state, _now, at, n) {
    const { times, counts, head, newest } = state;
    // Takes from the newest entries that hold no reservation.
    const limit = newest <= at ? Infinity : at;
    let left = n;
    const last = times.length - 1;
    for (let i = last; i >= Math.max(head, last - releaseLimit) && left > 0; i--) {
      if (times[i] > limit) continue;
      const back = Math.min(left, counts[i]);
      counts[i] -= back;
      state.total -= back;
      left -= back;
    }
    dropEmptyEnd(state);
    return n - left;
  },

  cut(state, _now, after) {
    const { times, counts, head, coarsest } = state;
    // Later reservations are void, but their slot may have to stay.
    state.newest = Math.min(state.newest, after);
    let cut = false;
    // Removes only slots that cannot hold an earlier grant.
    for (let i = 0; i < cutLimit && times.length > head; i++) {
      if (times[times.length - 1] - coarsest < after) break;
      times.pop();
      state.total -= counts.pop()!;
      cut = true;
    }
    if (!cut) return;
    if (times.length === head) clear(state);
    else state.newest = Math.min(state.newest, times[times.length - 1]);
  },

  available(state, now, at) {
    return state.newest > at ? 0 : Math.max(0, slidingWindowAlgebra.fit(state, now, now, 1));
  },

  full({ times, head, interval }, now) {
    return times.length === head ? now : Math.max(now, times[times.length - 1] + interval);
  },

  roll(state, now) {
    const gone = now - state.interval;
    const last = state.times.length - 1;
    if (last >= state.head && state.times[last] <= gone) {
      state.purged = state.times[last];
      clear(state);
      return;
    }
    const end = Math.min(state.times.length, state.head + purgeLimit);
    while (state.head < end && state.times[state.head] <= gone) {
      state.purged = state.times[state.head];
      state.total -= state.counts[state.head++];
    }
    if (state.head > 64 && state.head * 2 > state.times.length) {
      state.times.splice(0, state.head);
      state.counts.splice(0, state.head);
      state.head = 0;
    }
  },

  adopt(state, { permits, interval, resolution }) {
    Object.assign(state, { permits, interval, resolution });
    state.coarsest = Math.max(state.coarsest, resolution);
  },

  taken: ({ total, newest }) => ({ permits: total, newest }),
};

/** The time of the entry for a grant at `t`. */
function slotOf(state: SlidingWindowState, t: number): number {
  const { resolution, interval, newest, times, head } = state;
  const slot = Math.ceil(t / resolution) * resolution;
  if (times.length - head < mostEntries || (slot <= times[times.length - 1] && t >= newest)) return slot;
  const step = Math.max(resolution, Math.floor(interval / 1000));
  state.coarsest = Math.max(state.coarsest, step);
  return Math.ceil(t / step) * step;
}

/**
 * The index of the first entry at `t` or later. A grant at `t` was recorded in that entry or an earlier one.
 */
function find({ times, head }: SlidingWindowState, t: number): number {
  let low = head;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < t) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Removes empty entries at the end, so that later requests need not wait behind refunded reservations. */
function dropEmptyEnd(state: SlidingWindowState): void {
  const { times, counts } = state;
  for (let i = 0; i < popLimit && times.length > state.head && counts[counts.length - 1] === 0; i++) {
    times.pop();
    counts.pop();
    state.newest = times.length > state.head ? Math.min(state.newest, times[times.length - 1]) : 0;
  }
}

function clear(state: SlidingWindowState): void {
  state.coarsest = state.resolution;
  state.total = 0;
  state.newest = 0;
  state.times = [];
  state.counts = [];
  state.head = 0;
}
