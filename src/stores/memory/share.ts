import type { LedgerState } from './ledgerState.ts';

/** No client reserves further ahead than this many milliseconds of load. */
export const longestHorizon = 1_000;
/** Milliseconds of load that all contenders but one may reserve beside a large request. */
const mostBeside = 4000;

/**
 * How far ahead a client may reserve: milliseconds of load. The twin of `lua/ledger/share.lua`.
 *
 * Contenders share the longest horizon of any of them, or those with short round trips would get less. Each may reserve as
 * much as the largest request of another, or small requests would be granted one at a time between large ones: the quantum of
 * deficit round robin (M. Shreedhar, G. Varghese, 1995). All contenders together reserve at most that much again, or four
 * seconds, so that no request waits long behind many of them.
 */
export function shareOf(
  { largest, largestUntil, farthest, farthestUntil }: LedgerState,
  horizon: number,
  contenders: number,
  now: number,
): number {
  if (contenders === 1) return horizon;
  const share = (farthestUntil > now ? Math.max(horizon, farthest) : horizon) / contenders;
  if (largestUntil <= now) return share;
  return Math.max(share, Math.min(largest, Math.max(largest, mostBeside) / (contenders - 1)));
}

/**
 * A contender has a request of at least its share, the largest of which counts until a moment; or it has this horizon, of which
 * the longest does.
 */
export function noteMost(
  ledger: LedgerState,
  of: 'largest' | 'farthest',
  milliseconds: number,
  until: number,
): void {
  if (milliseconds < ledger[of] && ledger[`${of}Until`] > ledger.seen) return;
  ledger[of] = milliseconds;
  ledger[`${of}Until`] = until;
}
