import type { Cost } from '../../limits/cost.ts';
import { exceeds } from '../../limits/limit.ts';
import { loadOf } from '../../limits/load.ts';
import { contenderPeriod, outcome, type Run, type Segment } from '../store.ts';
import { none } from './createLedger.ts';
import { mostGaps, takeGap } from './gaps.ts';
import { grantAll } from './grant.ts';
import { fillHole, holeFor, roomIn } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { fitAll, offer, offerAhead } from './offer.ts';
import { isRecent, noteGranted, noteTaken, stridesOf } from './pace.ts';
import { goBehind, leavesToOthers, queue, type Reservations, staysQueued } from './queueing.ts';
import { quotaOf, spend } from './quota.ts';
import { longestHorizon, noteMost } from './share.ts';
import { mostTurn } from './turns.ts';

/** To a client that would, a reply with so many segments reserves no more moments. */
const mostSegments = 512;
/** Of no more permits than this, sums are exact. */
const mostTaken = 2 ** 53 - 1;
/** Milliseconds until the moment for the requests beyond a client's part of a bucket's free permits. */
const nextCall = 2;

/**
 * If the share is as much as a larger request of another client, one more request is reserved only if this part of it has room:
 * otherwise a client with requests of a little less than the largest would reserve twice as much as the one with these. It is less
 * than half, for which clients call.
 */
const leastRoom = 0.49;

/**
 * How many requests of a load may be reserved: as far as the client's share goes, but one at least, and so that the permits in the
 * log of each sliding window have an exact sum.
 */
function roomFor({ limits }: LedgerState, cost: Cost, load: number, reserved: Reservations): number {
  const { share, held, horizon, contenders } = reserved;
  const beyond = share > horizon / contenders ? Math.min(load, share) * leastRoom : 0;
  let room = Math.max(held > 0 ? 0 : 1, Math.ceil((share - beyond - held) / load));
  limits.forEach((state, i) => {
    if (state.kind === 'slidingWindow' && cost[i] > 0)
      room = Math.min(room, Math.floor((mostTaken - state.total) / cost[i]));
  });
  return room;
}

/** Grants or reserves the permits of a run, as far as the client's share goes. The twin of `lua/reserve/serve.lua`. */
export function serve(
  ledger: LedgerState,
  instant: Instant,
  { count, cost, maxWait }: Run,
  reserved: Reservations,
  paced: boolean,
  segments: Segment[],
): void {
  const { now, at } = instant;
  if (exceeds(ledger.limits, cost)) {
    segments.push({ count, delay: outcome.exceedsLimit, retryAfter: Infinity });
    return;
  }
  // In order, one that refunds at once would be granted each permit again without a pace, and clients of one limit of a record
  // would take what others need for another one.
  const isFree =
    reserved.takesTurns || (reserved.turn && ledger.limits.length === 1 && isRecent(ledger, ledger.lateAt));
  const strides = paced && !isFree ? stridesOf(ledger, cost) : none;
  const stride = Math.max(0, ...strides);
  const { takesTurns, sharesFree } = reserved;
  // The pace divides the permits of windows. A request that may not wait for its client's next call is granted at once.
  const callsAgain = takesTurns ? mostTurn : nextCall;
  const hasQuota = sharesFree && stride === 0 && maxWait >= callsAgain;
  let remaining = count;
  while (remaining > 0) {
    const behind = offer(ledger, instant, cost, stride, reserved.after, reserved.isClear);
    const isFar = ledger.limits.length > 1 && behind.t > now + reserved.horizon;
    const ahead = isFar
      ? offerAhead(ledger, instant, cost, stride, reserved.after, behind.t, reserved.horizon)
      : undefined;
    const offered = ahead ?? behind;
    let { t, wait } = offered;
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
      !leavesToOthers(ledger, cost, reserved) &&
      reserved.gaps < mostGaps &&
      !(hasQuota && quotaOf(ledger, now, cost, reserved) <= 0) &&
      takeGap(ledger, instant, cost, hole)
    ) {
      segments.push({ count: 1, delay: 0, retryAfter: 0 });
      reserved.gaps++;
      if (hasQuota) spend(ledger, cost, 1, reserved);
      else if (reserved.turn && !takesTurns) reserved.taken += loadOf(ledger, cost);
      remaining--;
      if (reserved.turn) goBehind(ledger, now, cost, reserved);
      continue;
    }
    if (reserved.turn && staysQueued(ledger, now, cost, reserved, offered, maxWait)) {
      segments.push(queue(ledger, instant, { count: remaining, cost, maxWait }, reserved, t));
      return;
    }
    const quota = hasQuota && wait === 0 ? quotaOf(ledger, now, cost, reserved) : Infinity;
    if (quota <= 0) {
      if (takesTurns) {
        segments.push(queue(ledger, instant, { count: remaining, cost, maxWait }, reserved, t));
        return;
      }
      // A bucket grants the next requests after the calls of this millisecond.
      reserved.after = at + 1;
      continue;
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
    const load = wait > 0 ? loadOf(ledger, cost) : 0;
    const room = wait > 0 ? roomFor(ledger, cost, load, reserved) : Infinity;
    const isTooMuch = wait > 0 && reserved.horizon > longestHorizon && segments.length >= mostSegments;
    reserved.left ||= room < 1 || isTooMuch;
    if (reserved.left) {
      segments.push({ count: remaining, delay: outcome.queued, retryAfter: 0 });
      return;
    }
    const most = Math.min(remaining, room);
    let granted = hole
      ? Math.min(roomIn(hole, cost), most)
      : ahead
        ? ahead.fit(Math.min(quota, most))
        : fitAll(ledger, now, wait > 0 ? t : now, cost, Math.min(quota, most));
    // A limit that grants nothing at the moment it offers would make this loop endless.
    if (!(granted >= 1)) throw new Error('the limits do not agree with what they offer');
    if (hole) fillHole(ledger, hole, cost, granted, now);
    else granted = grantAll(ledger, instant, t, cost, strides, granted);
    if (paced && stride === 0) noteGranted(ledger, cost, granted);
    if (quota < Infinity) spend(ledger, cost, granted, reserved);
    else if (reserved.turn && !takesTurns) reserved.taken += loadOf(ledger, cost) * granted;
    if (takesTurns && wait === 0) noteTaken(ledger, cost, granted);
    if (reserved.turn) goBehind(ledger, now, cost, reserved);
    if (wait > 0) {
      reserved.held += load * granted;
      if (reserved.contenders > 1 && load >= reserved.share)
        noteMost(ledger, 'largest', load, t + contenderPeriod);
      reserved.after = Math.max(reserved.after, t);
    }
    segments.push({ count: granted, delay: wait / 1000, retryAfter: 0 });
    remaining -= granted;
  }
}
