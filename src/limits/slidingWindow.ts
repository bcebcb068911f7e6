import { small } from '../small.ts';
import type { Algebra } from './algebra.ts';
import type { SlidingWindow } from './limit.ts';
import { freeBefore, hasGap, insert } from './slidingGap.ts';

/** A sliding window with its log. */
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
  /**
   * The newest moment of the slot of the present time when a later slot was opened for a reservation, or 0: once that one is empty,
   * it is the newest one again. Of any other slot, only the end is known.
   */
  under: number;
  /** The newest time of any entry that was removed from the log. */
  purged: number;
  /** From `head` on, the slots in order of time: of each, its time and its count. One array, since a key has one log. */
  log: number[];
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
const mostCut = 2048;
/** From this many entries on, a log gets new ones only a thousandth of the interval apart. */
const mostEntries = 2048;

/** Up to this length, a log has no room for more entries. */
const shortLog = 16;

/**
 * A log of (time, count), one entry per `resolution`: the usual sliding-window log with rounded times. The
 * twin of `lua/limits/sliding-window.lua`.
 */
export const slidingWindowAlgebra: Algebra<SlidingWindow, SlidingWindowState> = {
  create: ({ permits, interval, resolution }) => ({
    kind: 'slidingWindow',
    permits: small(permits),
    interval: small(interval),
    resolution: small(resolution),
    coarsest: small(resolution),
    total: 0,
    newest: 0,
    under: 0,
    purged: -1,
    log: [],
    head: 0,
  }),

  earliest(state, now, at, n, isClear) {
    let taken = state.total;
    let free = now;
    for (let i = state.head; taken + n > state.permits && i < state.log.length; i += 2) {
      taken -= state.log[i + 1];
      free = state.log[i] + state.interval;
    }
    // The log grows at its end only, and no request overtakes a reservation. If none stands, the newest was refunded.
    return state.newest > at && !isClear ? Math.max(free, state.newest) : free;
  },

  fit(state, _now, t, n) {
    let taken = state.total;
    for (let i = state.head; i < state.log.length && state.log[i] <= t - state.interval; i += 2)
      taken -= state.log[i + 1];
    return Math.floor((state.permits - taken) / n);
  },

  hasGap,

  freeBefore,

  commit(state, now, t, n) {
    const last = state.log.length - 2;
    const own = slotOf(state, t);
    state.total += n;
    if (t < state.newest && own < state.log[last]) {
      insert(state, own, n);
      if (own === slotUnder(state)) state.under = Math.max(state.under, t);
      return;
    }
    // Only a reservation may be refunded before its moment.
    if (t > now + 1 && last >= state.head && own > state.log[last] && state.log[last] - state.coarsest < now)
      state.under = state.newest;
    // After a change of resolution, the last slot may be later than this one.
    const slot = last < state.head ? own : Math.max(own, state.log[last]);
    if (last >= state.head && state.log[last] === slot) state.log[last + 1] += n;
    else if (last < shortLog) state.log = grown(state.log, slot, n);
    else state.log.push(slot, n);
    state.newest = Math.max(state.newest, t);
  },

  refund(state, now, t, n) {
    // If the entry of the grant was removed, `find` would return the entry of another grant.
    if (t <= state.purged) return 0;
    const index = find(state, t);
    const time = state.log[index];
    if (time === undefined || time - t >= state.coarsest || time <= now - state.interval) return 0;
    const back = Math.min(n, state.log[index + 1]);
    state.log[index + 1] -= back;
    state.total -= back;
    dropEmptyEnd(state);
    return back;
  },

  release(state, _now, at, n) {
    const { log, head, newest } = state;
    // Takes from the newest entries that hold no reservation.
    const limit = newest <= at ? Infinity : at;
    let left = n;
    const last = log.length - 2;
    for (let i = last; i >= Math.max(head, last - 2 * releaseLimit) && left > 0; i -= 2) {
      if (log[i] > limit) continue;
      const back = Math.min(left, log[i + 1]);
      log[i + 1] -= back;
      state.total -= back;
      left -= back;
    }
    dropEmptyEnd(state);
    return n - left;
  },

  cut(state, _now, after, room = {}) {
    room.entries ??= mostCut;
    const { log, head, coarsest, total } = state;
    const { length } = log;
    // Later reservations are void, but their slot may have to stay.
    state.newest = Math.min(state.newest, after);
    // Removes only slots that cannot hold an earlier grant.
    for (; room.entries > 0 && log.length > head; room.entries--) {
      if (lastTime(state) - coarsest < after) break;
      state.total -= log.pop()!;
      log.pop();
    }
    if (log.length === length) return 0;
    const back = total - state.total;
    if (log.length === head) clear(state);
    else lowerNewest(state);
    return back;
  },

  available(state, now, at) {
    return state.newest > at ? 0 : Math.max(0, slidingWindowAlgebra.fit(state, now, now, 1));
  },

  full(state, now) {
    return state.log.length === state.head ? now : Math.max(now, lastTime(state) + state.interval);
  },

  roll(state, now) {
    if (state.under > 0 && slotUnder(state) <= now) state.under = 0;
    const gone = now - state.interval;
    const last = state.log.length - 2;
    if (last >= state.head && state.log[last] <= gone) {
      state.purged = state.log[last];
      clear(state);
      return;
    }
    const end = Math.min(state.log.length, state.head + 2 * purgeLimit);
    while (state.head < end && state.log[state.head] <= gone) {
      state.purged = state.log[state.head];
      state.total -= state.log[state.head + 1];
      state.head += 2;
    }
    if (state.head > 128 && state.head * 2 > state.log.length) {
      state.log.splice(0, state.head);
      state.head = 0;
    }
  },

  adopt(state, { permits, interval, resolution }) {
    state.permits = small(permits);
    state.interval = small(interval);
    state.resolution = small(resolution);
    state.coarsest = Math.max(state.coarsest, resolution);
    state.under = 0;
  },

  taken: ({ total, newest }) => ({ permits: total, newest }),
};

/** The time of the entry for a grant at `t`. */
function slotOf(state: SlidingWindowState, t: number): number {
  const { resolution, interval, newest, log, head } = state;
  const slot = Math.ceil(t / resolution) * resolution;
  if (log.length - head < 2 * mostEntries || (slot <= lastTime(state) && t >= newest)) return slot;
  const step = Math.max(resolution, Math.floor(interval / 1000));
  state.coarsest = Math.max(state.coarsest, step);
  return Math.ceil(t / step) * step;
}

/**
 * The index of the first entry at `t` or later. A grant at `t` was recorded in that entry or an earlier one.
 */
function find({ log, head }: SlidingWindowState, t: number): number {
  let low = head;
  let high = log.length;
  while (low < high) {
    const middle = ((low + high) >> 2) * 2;
    if (log[middle] < t) low = middle + 2;
    else high = middle;
  }
  return low;
}

function lastTime({ log }: SlidingWindowState): number {
  return log[log.length - 2];
}

/** A copy with one entry more, and no room for others: `push` would make room for 16. Copied here, as `concat` takes longer. */
function grown(log: readonly number[], slot: number, n: number): number[] {
  const { length } = log;
  const longer = new Array<number>(length + 2);
  for (let i = 0; i < length; i++) longer[i] = log[i];
  longer[length] = slot;
  longer[length + 1] = n;
  return longer;
}

/** Removes empty entries at the end, so that later requests need not wait behind refunded reservations. */
function dropEmptyEnd(state: SlidingWindowState): void {
  const { log, head } = state;
  for (let i = 0; i < popLimit && log.length > head && log[log.length - 1] === 0; i++) {
    log.length -= 2;
    if (log.length > head) lowerNewest(state);
    else state.newest = 0;
  }
}

/** The slot of the moment `under`. */
function slotUnder({ under, resolution }: SlidingWindowState): number {
  return Math.ceil(under / resolution) * resolution;
}

/** The last entry was removed: the newest moment is in the one before it, perhaps at its end. */
function lowerNewest(state: SlidingWindowState): void {
  const last = lastTime(state);
  const isKnown = slotUnder(state) === last;
  state.newest = Math.min(state.newest, isKnown ? state.under : last);
  if (isKnown) state.under = 0;
}

function clear(state: SlidingWindowState): void {
  state.coarsest = state.resolution;
  state.total = 0;
  state.newest = 0;
  state.under = 0;
  state.log = [];
  state.head = 0;
}
