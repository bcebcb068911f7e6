import type { Limit } from '../../limits/limit.ts';
import { type LimitState, startState } from '../../limits/states.ts';
import { nobody } from './contenders.ts';
import type { LedgerState } from './ledgerState.ts';

/** The list of a ledger without entries. */
export const none: readonly never[] = [];

/** The fields of a ledger in which nothing has waited yet. */
const untouched = {
  shift: 0,
  frontier: 0,
  pacedUntil: 0,
  granted: 0,
  returned: 0,
  holes: none,
  contenders: nobody,
  voids: none,
  freed: 0,
  movedAt: 0,
  credit: 0,
  largest: 0,
  largestUntil: 0,
  farthest: 0,
  farthestUntil: 0,
  tickets: none,
  pausedUntil: 0,
  sequences: undefined,
  sole: undefined,
};

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
  Object.assign(SmallLedger.prototype, untouched);
  return SmallLedger;
})();

/** A new ledger for the fast path. Of the ledger that it replaces, it keeps the sequence numbers. */
export function createLedger(
  names: readonly string[],
  limits: readonly Limit[],
  epoch: number,
  now: number,
  sequences: LedgerState['sequences'],
): LedgerState {
  const sole = limits.length === 1 ? startState(limits[0], now, 0) : undefined;
  const ledger = new SmallLedger(epoch, now, names, limits, sole) as unknown as LedgerState;
  if (!sole) {
    const value = limits.map((limit) => startState(limit, now, 0));
    Object.defineProperty(ledger, 'limits', { value, writable: true, enumerable: true });
  }
  if (sequences) ledger.sequences = sequences;
  return ledger;
}

/** The ledger with fields of its own, which other than the fast path may change. */
export function expand(ledger: LedgerState): LedgerState {
  if (!(ledger instanceof SmallLedger)) return ledger;
  const { epoch, limits } = ledger;
  const own = ledger as Omit<LedgerState, 'born' | 'refundable'>;
  return { ...untouched, born: epoch, refundable: epoch, ...own, limits, sole: undefined };
}

/** The state of a limit by its index. */
export function stateOf(ledger: LedgerState, i: number): LimitState {
  return ledger.sole ?? ledger.limits[i];
}
