import type { Algebra } from './algebra.ts';
import { type FixedWindowState, fixedWindowAlgebra } from './fixedWindow.ts';
import type { Limit } from './limit.ts';
import { type SlidingWindowState, slidingWindowAlgebra } from './slidingWindow.ts';
import { owe, type TokenBucketState, tokenBucketAlgebra } from './tokenBucket.ts';

/** The state of a limit of any kind, with the numbers of that limit. */
export type LimitState = SlidingWindowState | FixedWindowState | TokenBucketState;

/** The functions of this kind of limit. They are compared, since V8 looks up a property by a variable name slowly. */
export function algebraOf({ kind }: { kind: Limit['kind'] }): Algebra<Limit, LimitState> {
  const algebra =
    kind === 'slidingWindow'
      ? slidingWindowAlgebra
      : kind === 'fixedWindow'
        ? fixedWindowAlgebra
        : tokenBucketAlgebra;
  return algebra as Algebra<Limit, LimitState>;
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
 * A new state with `permits` already taken, recorded as one grant at the newest moment. None is forgotten, even if they are more
 * than the limit has: clients that use two limits under one name would otherwise undo each other's grants.
 */
export function startWith(
  limit: Limit,
  permits: number,
  newest: number,
  now: number,
  shift: number,
): LimitState {
  const algebra = algebraOf(limit);
  const state = algebra.create(limit);
  const at = Math.max(now, newest);
  algebra.roll(state, now, shift);
  const taken = limit.kind === 'tokenBucket' ? Math.min(permits, limit.burst) : permits;
  if (taken > 0) algebra.commit(state, now, at, taken);
  // The full bucket would lose its refill until `at`. That refill covers a part of the other permits instead.
  const owed = (permits - taken) * limit.interval - (at - now) * limit.permits;
  if (limit.kind === 'tokenBucket' && owed > 0) owe(state as TokenBucketState, owed);
  return state;
}
