import type { LedgerState } from './ledgerState.ts';
import { comeLate } from './order.ts';
import { hasKind, keptLoad } from './pace.ts';

/**
 * Whether clients that wait in order are granted sooner than at the full rate: several windows keep the pace, also in order. While
 * permits come back late, few are free so soon. The twin of `lua/ledger/expected.lua`.
 */
export function keepsPace(ledger: LedgerState, now: number): boolean {
  return ledger.limits.length > 1 && !hasKind(ledger, 'tokenBucket') && !comeLate(ledger, now);
}

/** The milliseconds in which a load is likely to be granted to clients that wait in order. */
export function expectedLoad(ledger: LedgerState, now: number, load: number): number {
  return keptLoad(ledger, load, keepsPace(ledger, now));
}
