import { loadOf } from '../../limits/load.ts';
import { outcome, type Run, type Segment } from '../store.ts';
import { mostGaps, takeGap } from './gaps.ts';
import { fillHole, holeFor, roomIn } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { fitAll } from './offer.ts';
import { hasKind, noteGranted, strideOf } from './pace.ts';
import type { Reservations } from './queueing.ts';

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
    if (paced && strideOf(ledger, cost) === 0) noteGranted(ledger, cost, granted);
    reserved.held += load * granted;
    reserved.after = Math.max(reserved.after, hole.moment);
    segments.push({ count: granted, delay: wait / 1000, retryAfter: 0 });
    remaining -= granted;
  }
  if (remaining === 0) return;
  // Its own reservations are charged until it refunds them. Beside others, that helps only if as many permits were refunded; and
  // in a fixed window never, as no slot is unknown there.
  const { takesTurns, turn, contenders } = reserved;
  const movesUp =
    !takesTurns &&
    !turn?.isBarred &&
    (contenders === 1 || ledger.freed >= load) &&
    ledger.pausedUntil <= now &&
    !hasKind(ledger, 'fixedWindow') &&
    fitAll(ledger, now, now, cost, Infinity) + remaining > 0;
  if (movesUp) segments.push({ count: remaining, delay: outcome.movesUp, retryAfter: Infinity });
  else segments.push({ count: remaining, delay: outcome.queued, retryAfter: 0 });
}
