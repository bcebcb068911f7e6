import type { Cost } from '../../limits/cost.ts';
import { loadOf } from '../../limits/load.ts';
import { outcome, type Run, type Segment } from '../store.ts';
import { mostGaps, takeGap } from './gaps.ts';
import { fillHole, holeFor, roomIn } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { fitAll, newestOf } from './offer.ts';
import { hasKind, hasWindow, noteGranted, stridesOf } from './pace.ts';
import type { Reservations } from './queueing.ts';

/** Before a moment that is so many milliseconds ahead, each client calls once more. */
const lastBeat = 1600;

/**
 * Lets requests that have reservations take over refunded ones with earlier moments, or the permits that are free before these.
 * All other permits before their moments are reserved. Clients that wait in order, or take turns, reserve nothing far ahead. The
 * twin of `lua/reserve/earlier.lua`.
 */
export function serveEarlier(
  ledger: LedgerState,
  instant: Instant,
  { count, cost, maxWait }: Run,
  reserved: Reservations,
  paced: boolean,
  segments: Segment[],
): void {
  const { us, now } = instant;
  const load = loadOf(ledger, cost);
  let remaining = count;
  while (remaining > 0 && !reserved.turn && reserved.held < Math.max(reserved.share, load)) {
    const hole = holeFor(ledger, Math.max(now + 1, ledger.pausedUntil), Infinity, cost);
    if (!hole) break;
    if (reserved.gaps < mostGaps && takeGap(ledger, instant, cost, hole)) {
      segments.push({ count: 1, delay: 0, retryAfter: 0 });
      reserved.gaps++;
      remaining--;
      continue;
    }
    const wait = hole.moment * 1000 - us;
    if (wait > maxWait * 1000) break;
    const most = Math.max(1, Math.ceil((reserved.share - reserved.held) / load));
    const granted = Math.min(roomIn(hole, cost), remaining, most);
    fillHole(ledger, hole, cost, granted, now);
    if (paced && Math.max(...stridesOf(ledger, cost)) === 0) noteGranted(ledger, cost, granted);
    reserved.held += load * granted;
    reserved.after = Math.max(reserved.after, hole.moment);
    segments.push({ count: granted, delay: wait / 1000, retryAfter: 0 });
    remaining -= granted;
  }
  if (remaining === 0) return;
  if (mayMoveUp(ledger, now, cost, remaining, maxWait, reserved))
    segments.push({ count: remaining, delay: outcome.movesUp, retryAfter: Infinity });
  else segments.push({ count: remaining, delay: outcome.queued, retryAfter: 0 });
}

/** Whether requests get earlier moments if the client refunds their reservations, which are charged until then, and asks again. */
function mayMoveUp(
  ledger: LedgerState,
  now: number,
  cost: Cost,
  count: number,
  maxWait: number,
  { takesTurns, turn, contenders, last }: Reservations,
): boolean {
  if (takesTurns || turn?.isBarred || ledger.pausedUntil > now) return false;
  // Holes that are too small for the request come back to a bucket if no reservation follows them, but are lost before one that
  // waits for a full bucket.
  const [hole] = ledger.holes;
  const isNear = hole !== undefined && hole.moment < now + Math.min(maxWait, lastBeat);
  const isLast = last >= newestOf(ledger, cost, false);
  if (isNear && isLast && !hasWindow(ledger) && !holeFor(ledger, now, Infinity, cost)) return true;
  // Beside others, that helps only if as many permits were refunded; and in a fixed window never, as no slot is unknown there.
  const isEnough = contenders === 1 || ledger.freed >= loadOf(ledger, cost);
  return isEnough && !hasKind(ledger, 'fixedWindow') && fitAll(ledger, now, now, cost, Infinity) + count > 0;
}
