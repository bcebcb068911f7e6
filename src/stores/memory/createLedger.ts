import type { Limit } from '../../limits/limit.ts';
import { type LimitState, startState } from '../../limits/states.ts';
import { small } from '../../small.ts';
import { nobody } from './contenders.ts';
import type { LedgerState } from './ledgerState.ts';

/** The list of a ledger without entries. */
export const none: readonly never[] = [];

/**
 * The fields of a ledger in which nothing has waited yet. A class, so that all copies have one shape: V8 gives each object whose
 * literal has a spread and other fields another one.
 */
class Untouched {
  shift = 0;
  frontiers = none;
  pacedUntil = 0;
  granted = 0;
  returned = 0;
  holes = none;
  contenders = nobody;
  voids = none;
  freed = 0;
  movedAt = 0;
  lateAt = 0;
  credit = 0;
  largest = 0;
  largestUntil = 0;
  farthest = 0;
  farthestUntil = 0;
  tickets = none;
  debts = none;
  pausedUntil = 0;
  sole = undefined;
}

/**
 * A ledger in which nothing has waited yet. A store may hold millions of these, so they share their untouched fields as
 * properties of the prototype. Its epoch never changes, so that it needs no `born` and no `refundable`. A single limit needs no
 * list.
 */
const SmallLedger = /* @__PURE__ */ (() => {
  class SmallLedger {
    expires = 0;

    constructor(
      readonly epoch: number,
      readonly seen: number,
      readonly names: readonly string[],
      readonly under: readonly Limit[],
      readonly sole: LimitState | undefined,
    ) {}

    get limits(): LimitState[] {
      return [this.sole!];
    }
  }
  Object.assign(SmallLedger.prototype, new Untouched());
  return SmallLedger;
})();

/** A ledger whose clock is behind the server's. */
const LateLedger = /* @__PURE__ */ (() => class LateLedger extends SmallLedger {})();

/** By how much the clock of each `LateLedger` is behind: the same for all stores of a process. */
let lateness = 0;

/** Milliseconds. A wall clock is set back by less. */
const day = 86_400_000;

/**
 * By how much the clocks of a store's new ledgers are behind its own, whose zero is at `origin` milliseconds. V8 keeps the times
 * of such a clock in the fields of a ledger for some weeks, and epoch milliseconds in an object for each field.
 */
export function latenessFrom(origin: number): number {
  if (lateness === 0 && origin > 2 * day) {
    // Whole days, so that the slots of a window are those of the server's clock.
    lateness = Math.floor(origin / day - 1) * day;
    // A value and not a getter, so that V8 knows it as a constant.
    Object.assign(LateLedger.prototype, { shift: -lateness });
  }
  return lateness < origin && origin < lateness + 4 * day ? lateness : 0;
}

/** A new ledger for the fast path. */
export function createLedger(
  names: readonly string[],
  limits: readonly Limit[],
  epoch: number,
  serverMs: number,
  late: number,
): LedgerState {
  const now = small(serverMs - late);
  const shift = 0 - late;
  const sole = limits.length === 1 ? startState(limits[0], now, shift) : undefined;
  const Class = late === 0 ? SmallLedger : LateLedger;
  const ledger = new Class(epoch, now, names, limits, sole) as unknown as LedgerState;
  if (!sole) {
    const value = limits.map((limit) => startState(limit, now, shift));
    Object.defineProperty(ledger, 'limits', { value, writable: true, enumerable: true });
  }
  return ledger;
}

/** The ledger with fields of its own, which other than the fast path may change. */
export function expand(ledger: LedgerState): LedgerState {
  if (!(ledger instanceof SmallLedger)) return ledger;
  const { epoch, seen, expires, shift, pausedUntil, names, under, limits } = ledger as LedgerState;
  const changed = { seen, expires, shift, pausedUntil, names, under, limits };
  return Object.assign(new Untouched(), { epoch, born: epoch, refundable: epoch }, changed);
}

/** The state of a limit by its index. */
export function stateOf(ledger: LedgerState, i: number): LimitState {
  return ledger.sole ?? ledger.limits[i];
}
