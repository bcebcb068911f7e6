import { algebraOf } from '../../limits/states.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { freedOf } from './pace.ts';

/**
 * Milliseconds until so many permits of each limit are free, after all reservations. Undefined if other permits may be granted
 * before: void reservations leave some, and contenders are paced.
 */
export function untilFree(
  ledger: LedgerState,
  { now, at, us }: Instant,
  permits: readonly number[],
): number[] | undefined {
  if (ledger.pacedUntil > now || freedOf(ledger, now) > 0) return undefined;
  return ledger.limits.map((state, i) => {
    const moment = permits[i] > 0 ? algebraOf(state).earliest(state, now, at, permits[i]) : now;
    return moment <= now ? 0 : (Math.max(at, moment) * 1000 - us) / 1000;
  });
}
