import type { Algebra } from './algebra.ts';
import type { FixedWindow } from './limit.ts';

/** The last window in use; earlier ones are past or full. */
export interface FixedWindowState {
  kind: 'fixedWindow';
  permits: number;
  interval: number;
  align: 'first' | 'epoch';
  /** The moment at which the window starts; where `used` is 0, the moment before which none may start. */
  start: number;
  /** Permits granted and booked in it. */
  used: number;
  /** What the state's clock is ahead of the server's by: windows are aligned to the server's. */
  shift: number;
}

/** A counter per window. A request never straddles two, and what is booked ahead opens later windows. */
export const fixedWindowAlgebra: Algebra<FixedWindow, FixedWindowState> = {
  create: ({ permits, interval, align }) => ({
    kind: 'fixedWindow',
    permits,
    interval,
    align,
    start: 0,
    used: 0,
    shift: 0,
  }),

  earliest(state, now, at, n) {
    const end = endOf(state);
    if (now >= end) return now;
    if (state.used > 0 && state.used + n <= state.permits) return state.start <= at ? now : state.start;
    return state.used === 0 && end <= at ? now : end;
  },

  fit(state, _now, t, n) {
    const used = t < endOf(state) ? state.used : 0;
    return Math.floor((state.permits - used) / n);
  },

  commit(state, _now, t, n) {
    if (state.used === 0 || t >= endOf(state)) {
      state.start = state.align === 'epoch' ? alignDown(state, t) : t;
      state.used = 0;
    }
    state.used += n;
  },

  refund(state, _now, t, n) {
    if (t >= state.start && t < endOf(state)) state.used -= Math.min(n, state.used);
  },

  available(state, now, at) {
    if (now >= endOf(state)) return state.permits;
    const open = state.used === 0 ? endOf(state) : state.start;
    return open > at ? 0 : Math.max(0, state.permits - state.used);
  },

  full(state, now) {
    return Math.max(now, endOf(state));
  },

  roll(state, now, shift) {
    state.shift = shift;
    if (now >= endOf(state)) state.used = 0;
  },

  adopt(state, { permits, interval, align }) {
    Object.assign(state, { permits, interval, align });
  },

  taken: ({ used, start }) => ({ permits: used, newest: start }),
};

/** When the next window may start. After a step of the clock a window lies across the grid: the next one waits for the grid. */
function endOf(state: FixedWindowState): number {
  const end = state.used === 0 ? state.start : state.start + state.interval;
  return state.align === 'epoch' ? alignUp(state, end) : end;
}

function alignDown({ interval, shift }: FixedWindowState, t: number): number {
  return Math.floor((t - shift) / interval) * interval + shift;
}

function alignUp({ interval, shift }: FixedWindowState, t: number): number {
  return Math.ceil((t - shift) / interval) * interval + shift;
}
