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
};

/**
 * A ledger in which nothing has waited yet. A store may hold millions of these, so they share their untouched fields as
 * properties of the prototype. Its epoch never changes, so that it needs no `born` and no `refundable`.
 */
const SmallLedger = /* @__PURE__ */ (() => {
  class SmallLedger {
    expires = 0;

    constructor(
      readonly epoch: number,
      readonly seen: number,
      readonly names: readonly string[],
      readonly under: readonly Limit[],
      readonly limits: LimitState[],
    ) {}
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
  // A literal, since V8 creates it at once with the element that it has.
  const states = [startState(limits[0], now, 0)];
  for (let i = 1; i < limits.length; i++) states.push(startState(limits[i], now, 0));
  const ledger = new SmallLedger(epoch, now, names, limits, states) as unknown as LedgerState;
  if (sequences) ledger.sequences = sequences;
  return ledger;
}

/** The ledger with fields of its own, which other than the fast path may change. */
export function expand(ledger: LedgerState): LedgerState {
  if (!(ledger instanceof SmallLedger)) return ledger;
  const { epoch } = ledger;
  const own = ledger as Omit<LedgerState, 'born' | 'refundable'>;
  return { ...untouched, born: epoch, refundable: epoch, ...own };
}
