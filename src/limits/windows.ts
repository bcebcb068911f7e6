import { small } from '../small.ts';

/*
 * The windows of a fixed window that are known, from the last to the first, and the grid of aligned ones. The twin of
 * lua/limits/fixed-window/windows.lua.
 */

/** A window in use. */
export interface Window {
  /** The moment at which it starts. Without permits granted or reserved in it: an aligned window may start from this moment on. */
  start: number;
  /** The next window may not start before this moment. A step of the clock never makes it earlier. */
  end: number;
  /** Permits granted and reserved in it. */
  used: number;
  /** The newest moment granted or reserved in it. */
  newest: number;
  /**
   * Permits reserved in this window since it last had no reservation ahead. They include reservations whose
   * moment has come since.
   */
  reserved: number;
  /** The window before it. Nothing is granted or reserved between the two. */
  earlier: Window | undefined;
}

/**
 * The last window in use, and those before it: each that is not past, and one past one if more may be granted after it. Of more
 * than {@link mostEarlier}, the earliest ones are forgotten: they count as full.
 */
export interface FixedWindowState extends Window {
  kind: 'fixedWindow';
  permits: number;
  interval: number;
  align: 'first' | 'epoch';
  /** The most permits in a forgotten window that is not past, if it may hold more than the limit; otherwise 0. */
  most: number;
  /** Milliseconds by which the clock of aligned windows is ahead of the server's, to whose clock they are aligned. */
  shift: number;
}

/** The most windows that are remembered before the last. */
export const mostEarlier = 16;

/** Brings the state up to `now`, by a clock that is `shift` ahead of the server's. */
export function roll(state: FixedWindowState, now: number, shift: number): void {
  const isAligned = state.align === 'epoch';
  if (isAligned) toGrid(state, shift);
  forgetPast(state, now);
  if (now >= state.end) {
    // After a later step of the clock, no window may start before this one has ended.
    if (isAligned && state.used > 0) state.start = state.end;
    state.used = 0;
    state.most = 0;
  }
  if (isAligned && state.used === 0)
    state.end = Math.max(alignDown(state, now), state.newest && alignUp(state, state.start));
}

/** Opens a window at the moment `t`. */
export function open(state: FixedWindowState, now: number, t: number): void {
  const { start, end, used, newest, reserved, earlier } = state;
  state.earlier = { start, end, used, newest, reserved, earlier };
  state.start = startAt(state, t);
  state.end = state.start + state.interval;
  state.used = 0;
  state.reserved = 0;
  forgetPast(state, now);
  forgetMany(state);
}

/**
 * The last window has become empty. The last one before it that is in use takes its place, unless it has ended. If none is known,
 * those before it ended before the present one.
 */
export function close(state: FixedWindowState, now: number): void {
  let before = state.earlier ?? fullBefore({ start: startAt(state, now), newest: now });
  while (before.used === 0 && before.earlier) before = before.earlier;
  Object.assign(state, before);
  if (state.used === 0) state.end = state.start;
  roll(state, now, state.shift);
}

/**
 * Forgets the past windows, except the last of them if more may be granted between it and the next. After a step of the clock, one
 * that has ended may overlap the present window of the grid, and is not past.
 */
function forgetPast(state: FixedWindowState, now: number): void {
  for (let next: Window = state; next.earlier; next = next.earlier) {
    const past = next.earlier;
    if (startAt(state, now) < past.end) continue;
    past.earlier = undefined;
    state.most = 0;
    // What is granted in this millisecond may be recorded at its end.
    if (startAt(state, now + 1) >= next.start) next.earlier = undefined;
    return;
  }
}

/** Forgets the earliest windows if there are too many. */
function forgetMany(state: FixedWindowState): void {
  let window: Window = state;
  for (let count = 1; count < mostEarlier && window.earlier; count++) window = window.earlier;
  if (!window.earlier?.earlier) return;
  const used = Math.max(window.earlier.used, window.earlier.earlier.used);
  if (used > state.permits) state.most = Math.max(state.most, used);
  window.earlier = fullBefore(window);
}

/**
 * Stands for the forgotten windows before one, which are past or full: once that one is empty, the next one may start where it did.
 */
export function fullBefore({ start, newest }: Pick<Window, 'start' | 'newest'>): Window {
  return { start, end: start, used: 0, newest, reserved: 0, earlier: undefined };
}

/** The earliest window that starts after `t`, if one does. */
export function windowAfter(state: Window, t: number): Window | undefined {
  let after: Window | undefined;
  for (let window: Window | undefined = state; window && window.start > t; window = window.earlier)
    after = window;
  return after;
}

/** The latest window that starts at `t` or before, if one does. */
export function windowAt(state: Window, t: number): Window | undefined {
  return state.start <= t ? state : windowAfter(state, t)?.earlier;
}

/**
 * The first moment from `t` on whose reservations can be cut without a loss: those in the window of `t` would count there until it
 * ends. If its permits are taken more slowly than at the full rate, they are enough all the same.
 */
export function cutFrom(state: FixedWindowState, t: number): number {
  const window = windowAt(state, t - 1);
  if (!window || t >= window.end || t > window.newest) return t;
  const isFast = (window.newest - window.start) * state.permits <= window.used * state.interval;
  return isFast ? window.end : t;
}

/**
 * After a step of the clock, a window may be off the grid. The next one starts on the grid. Other windows need no shift, a number
 * that V8 keeps in an object.
 */
export function toGrid(state: FixedWindowState, shift: number): void {
  state.shift = shift;
  if (state.used > 0) state.end = alignUp(state, state.end);
}

/** The start of a window that is opened at `t`. */
export function startAt(state: FixedWindowState, t: number): number {
  return state.align === 'epoch' ? alignDown(state, t) : t;
}

export function alignDown({ interval, shift }: FixedWindowState, t: number): number {
  return small(Math.floor((t - shift) / interval) * interval + shift);
}

export function alignUp({ interval, shift }: FixedWindowState, t: number): number {
  return small(Math.ceil((t - shift) / interval) * interval + shift);
}
