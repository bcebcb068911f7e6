import type { Algebra } from './algebra.ts';
import { fixedWindowAlgebra } from './fixedWindow.ts';
import type { Limit } from './limit.ts';
import { type SlidingWindowState, slidingWindowAlgebra } from './slidingWindow.ts';
import { owe, type TokenBucketState, tokenBucketAlgebra } from './tokenBucket.ts';
import type { FixedWindowState } from './windows.ts';

/** The state of a limit of any kind, with the numbers of that limit. */
export type LimitState = SlidingWindowState | FixedWindowState | TokenBucketState;

/** The functions of a kind of limit. Compared, since a property with a variable name takes longer. */
function algebraOfKind(kind: Limit['kind']): Algebra<Limit, LimitState> {
  const windows = kind === 'slidingWindow' ? slidingWindowAlgebra : fixedWindowAlgebra;
  return (kind === 'tokenBucket' ? tokenBucketAlgebra : windows) as Algebra<Limit, LimitState>;
}

/** The functions of a state's kind of limit. Limits have other shapes: V8 reads a property of three shapes fast. */
export function algebraOf({ kind }: { kind: Limit['kind'] }): Algebra<Limit, LimitState> {
  return algebraOfKind(kind);
}

/** A new state at `now`. `shift` is how far its clock is ahead of the server's. */
export function startState(limit: Limit, now: number, shift: number): LimitState {
  const algebra = algebraOfKind(limit.kind);
  const state = algebra.create(limit);
  algebra.roll(state, now, shift);
  return state;
}

/** Whether a state was kept under exactly this limit. */
export function isOf(state: LimitState, limit: Limit): boolean {
  if (state.kind !== limit.kind || state.permits !== limit.permits || state.interval !== limit.interval)
    return false;
  if (limit.kind === 'slidingWindow') return (state as SlidingWindowState).resolution === limit.resolution;
  if (limit.kind === 'fixedWindow') return (state as FixedWindowState).align === limit.align;
  return (state as TokenBucketState).burst === limit.burst;
}

/**
 * A new state with `permits` already taken, recorded as one grant at the newest moment, if that is known. None is forgotten, even
 * if they are more than the limit has: clients that use two limits under one name would otherwise undo each other's grants.
 */
export function startWith(
  limit: Limit,
  permits: number,
  newest: number,
  now: number,
  shift: number,
): LimitState {
  const isBucket = limit.kind === 'tokenBucket';
  // Not at present: if two limits are in force in turn, the permits would never come back. A bucket has to refill all of them.
  const at = newest > 0 ? newest : now;
  const from = isBucket ? now : Math.min(now, at);
  const state = startState(limit, from, shift);
  const { commit, roll } = algebraOf(state);
  const taken = isBucket ? Math.min(permits, limit.burst) : permits;
  if (taken > 0) commit(state, from, at, taken);
  // The full bucket would lose its refill until `at`. That refill covers a part of the other permits instead.
  const owed = (permits - taken) * limit.interval - Math.max(0, at - now) * limit.permits;
  if (isBucket && owed > 0) owe(state as TokenBucketState, owed);
  roll(state, now, shift);
  return state;
}
