import { exceeds } from '../../limits/limit.ts';
import { outcome, type Run, type Segment } from '../store.ts';
import { contenderPeriod } from './contenders.ts';
import { mostGaps, takeGap } from './gaps.ts';
import { grantAll } from './grant.ts';
import { fillHole, holeFor } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { fitAll, offer } from './offer.ts';
import { loadOf, noteGranted, strideOf } from './pace.ts';
import { noteLarge } from './share.ts';
import { dropTicket, type Turn, takeTicket, turnOf } from './tickets.ts';

/** No client reserves further ahead than this many milliseconds of load. */
const longestHorizon = 1_000;
/** To a client that would, a reply with so many segments reserves no more moments. */
const mostSegments = 512;

/** The client's reservations during a call. */
export interface Reservations {
  client: string;
  /** While permits are rare: the client's turn. */
  turn: Turn | undefined;
  /** Milliseconds of load that the client may reserve ahead if it has no other contenders. */
  horizon: number;
  /** When the client is to call again: milliseconds, or 0 if it need not. */
  retryAt: number;
  /** Whether there are other contenders. */
  contends: boolean;
  /** Milliseconds of load that the client may reserve ahead. */
  share: number;
  /** Milliseconds of load that the client has reserved. */
  held: number;
  /** Nothing is granted or reserved before this moment, so that the client's requests keep their order. */
  after: number;
  /** The newest moment that this call has reserved, or 0. */
  last: number;
  /** The requests that this call has granted ahead of reservations. */
  gaps: number;
  /** Whether the remaining requests stay queued: nothing more may be reserved, or the client waits for its turn. */
  left: boolean;
}

/** Grants or reserves the permits of a run, as far as the client's share goes. The twin of `serve` in `lua/reserve.lua`. */
export function serve(
  ledger: LedgerState,
  instant: Instant,
  { count, cost, maxWait }: Run,
  reserved: Reservations,
  paced: boolean,
  segments: Segment[],
): void {
  const { now } = instant;
  if (exceeds(ledger.limits, cost)) {
    segments.push({ count, delay: outcome.exceedsLimit, retryAfter: Infinity });
    return;
  }
  const stride = paced ? strideOf(ledger, cost) : 0;
  let remaining = count;
  while (remaining > 0) {
    let { t, wait } = offer(ledger, instant, cost, stride, reserved.after);
    // A refunded reservation before `t` can be taken over without moving any other reservation.
    const hole =
      wait > 0 ? holeFor(ledger, Math.max(now + 1, ledger.pausedUntil, reserved.after), t, cost) : undefined;
    // A request that may not wait must not overtake queued ones, and a client's request must not overtake the
    // client's own reservations.
    if (
      wait > 0 &&
      maxWait > 0 &&
      !reserved.left &&
      reserved.after <= now &&
      !reserved.turn?.isBarred &&
      reserved.gaps < mostGaps &&
      takeGap(ledger, instant, cost, hole)
    ) {
      segments.push({ count: 1, delay: 0, retryAfter: 0 });
      reserved.gaps++;
      remaining--;
      if (reserved.turn) goBehind(ledger, now, reserved);
      continue;
    }
    if (reserved.turn && staysQueued(reserved, reserved.turn, wait, t - now, maxWait)) {
      segments.push(
        queue(ledger, instant, { count: remaining, cost, maxWait }, reserved, t + reserved.turn.delay),
      );
      return;
    }
    if (hole) {
      t = hole.moment;
      wait = t * 1000 - instant.us;
    }
    // A request that may not wait never overtakes queued requests, even if its permits are free.
    if (wait > maxWait * 1000 || (reserved.left && maxWait === 0)) {
      segments.push({ count: remaining, delay: outcome.refused, retryAfter: Math.max(1000, wait) / 1000 });
      return;
    }
    const isEnough = reserved.held > 0 && reserved.held >= reserved.share;
    const isTooMuch = reserved.horizon > longestHorizon && segments.length >= mostSegments;
    reserved.left ||= wait > 0 && (isEnough || isTooMuch);
    if (reserved.left) {
      segments.push({ count: remaining, delay: outcome.queued, retryAfter: 0 });
      return;
    }
    let granted = hole
      ? Math.min(hole.count, remaining)
      : fitAll(ledger, now, wait > 0 ? t : now, cost, remaining);
    // A limit that grants nothing at the moment it offers would make this loop endless.
    if (!(granted >= 1)) throw new Error('the limits do not agree with what they offer');
    const load = wait > 0 ? loadOf(ledger, cost) : 0;
    if (wait > 0)
      granted = Math.min(granted, Math.max(1, Math.ceil((reserved.share - reserved.held) / load)));
    if (hole) fillHole(ledger, hole, granted);
    else granted = grantAll(ledger, instant, t, cost, stride, granted);
    if (paced && stride === 0) noteGranted(ledger, cost, granted);
    if (reserved.turn) goBehind(ledger, now, reserved);
    if (wait > 0) {
      reserved.held += load * granted;
      if (reserved.contends && load >= reserved.share) noteLarge(ledger, load, t + contenderPeriod, now);
      reserved.last = Math.max(reserved.last, t);
      reserved.after = Math.max(reserved.after, t);
    }
    segments.push({ count: granted, delay: wait / 1000, retryAfter: 0 });
    remaining -= granted;
  }
}

/** Whether a request for rare permits stays queued: only the client in front reserves, and no further ahead than its horizon. */
function staysQueued(
  { left, horizon }: Reservations,
  { delay, isBarred }: Turn,
  wait: number,
  ahead: number,
  maxWait: number,
): boolean {
  if (left || isBarred) return true;
  // A request that may wait is granted permits that are free now. One that may not must not overtake waiting clients.
  return wait === 0 ? maxWait === 0 && delay > 0 : delay > 0 || ahead > horizon;
}

/** Keeps the remaining requests of a run for the client's turn, or refuses them if that is too late. */
function queue(
  ledger: LedgerState,
  { us, now }: Instant,
  { count, cost, maxWait }: Run,
  reserved: Reservations,
  turn: number,
): Segment {
  const wait = Math.ceil(turn * 1000 - us);
  if (maxWait === 0 || wait > maxWait * 1000)
    return { count, delay: outcome.refused, retryAfter: Math.max(1000, wait) / 1000 };
  if (!reserved.left) {
    const until = now + contenderPeriod;
    const stride = loadOf(ledger, cost);
    takeTicket(ledger, { client: reserved.client, due: turn, until, stride });
    if (stride >= reserved.share) noteLarge(ledger, stride, until, now);
    ledger.pacedUntil = Math.max(ledger.pacedUntil, until);
    reserved.retryAt = Math.max(turn - reserved.horizon / 2, now + 1);
    reserved.left = true;
  }
  return { count, delay: outcome.queued, retryAfter: 0 };
}

/** After a grant, the client's next request comes after those of the others. */
function goBehind(ledger: LedgerState, now: number, reserved: Reservations): void {
  dropTicket(ledger, reserved.client);
  reserved.turn = turnOf(ledger, reserved.client, now);
}
