import { isShort, loadOf } from '../../limits/load.ts';
import {
  contenderPeriod,
  noticePeriod,
  type ReserveReply,
  type ReserveRequest,
  type Segment,
} from '../store.ts';
import { countOthers, noteContender } from './contenders.ts';
import { serveEarlier } from './earlier.ts';
import { lastOf } from './epochs.ts';
import { boundFrontiers } from './grant.ts';
import { closeHoles } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { pausedFor, voidAfterOf } from './openLedger.ts';
import { orderOf } from './order.ts';
import { areReturned } from './pace.ts';
import type { Reservations } from './queueing.ts';
import { serve } from './serve.ts';
import { longestHorizon, noteMost, shareOf } from './share.ts';
import { takeTicket, turnOf } from './tickets.ts';
import { nextTurn, takenBy } from './turns.ts';

/**
 * Grants and reserves permits for a client's requests, in order, up to its fair share of the near future. The
 * twin of `lua/reserve.lua`.
 */
export function reserve(
  ledger: LedgerState,
  instant: Instant,
  client: string,
  request: ReserveRequest,
): Omit<ReserveReply, 'now'> {
  const { now } = instant;
  const { earlier = false } = request;
  const last = lastOf(ledger, now, request.last, request.epoch);
  const waits = request.held > 0 || request.runs.some(({ maxWait }) => maxWait > 0);
  const others = countOthers(ledger.contenders, client, now);
  const contenders = Math.max(1, others + (waits ? 1 : 0));
  const paced = contenders > 1 || now < ledger.pacedUntil;
  // A client that does not wait is no contender, but it must not overtake clients that wait without reservations.
  const isOrdered = contenders > 1 || (paced && !waits);
  const order = isOrdered ? orderOf(ledger, contenders, request.runs) : undefined;
  const takesTurns = order === 'turns';
  boundFrontiers(ledger, now);
  const reserved: Reservations = {
    client,
    turn: order ? turnOf(ledger, client, now, !takesTurns) : undefined,
    takesTurns,
    contenders,
    isClear: others === 0 && last === 0,
    sharesFree: contenders > 1 && (takesTurns || areReturned(ledger)),
    quota: undefined,
    free: 0,
    asked: request.runs[0]?.count ?? 0,
    ...takenBy(ledger, client),
    horizon: request.horizon,
    retryAt: 0,
    share: shareOf(ledger, request.horizon, contenders, now),
    held: earlier ? 0 : request.held,
    last,
    after: earlier ? 0 : last,
    gaps: 0,
    left: false,
  };
  const segments: Segment[] = [];
  const serveRun = earlier ? serveEarlier : serve;
  for (const run of request.runs) serveRun(ledger, instant, run, reserved, paced, segments);

  // A client that waits calls again within the notice period. One that does not has ended, or needs its reservations no more.
  const ahead = Math.max(last, reserved.after);
  const until = Math.min(Math.max(now, ahead), now + noticePeriod) + contenderPeriod;
  if (contenders > 1 && ahead > now) ledger.pacedUntil = Math.max(ledger.pacedUntil, until);
  // After its part of the free permits, the client leaves the rest to the others until its next turn, unless there are many: in a
  // long interval, few of which come back, these are those of a new window, of which a single client would take several parts.
  const hasPart = takesTurns && !reserved.left && reserved.quota !== undefined;
  if (hasPart) {
    const load = loadOf(ledger, request.runs[0].cost);
    const areMany = reserved.free > contenders * 2 && (isShort(ledger) || areReturned(ledger));
    if (!areMany) reserved.retryAt = nextTurn(ledger, now, now, reserved, load);
    const due = Math.max(now, reserved.retryAt);
    // It does not wait yet, but is likely to: then it keeps its claim to what others take meanwhile.
    takeTicket(ledger, { client, due, until, stride: -load, taken: reserved.taken }, true);
  }
  // A client that leaves no other behind, or a single one, ends the pace. Then no other client takes over a hole.
  if (request.runs.length === 0 && !waits && contenders === 1) {
    ledger.pacedUntil = 0;
    closeHoles(ledger, now, Infinity);
  }
  const stays = request.held > 0 || reserved.held > 0 || reserved.retryAt > 0 || reserved.left || hasPart;
  ledger.contenders = noteContender(ledger.contenders, client, stays ? until : 0, now);
  if (stays && contenders > 1)
    noteMost(ledger, 'farthest', Math.min(request.horizon, longestHorizon), now + contenderPeriod);
  const { epoch } = ledger;
  const paused = pausedFor(ledger, instant);
  const voidAfter = voidAfterOf(ledger, instant, request.epoch);
  const reply: Omit<ReserveReply, 'now'> = { epoch, contenders, segments };
  if (reserved.share > request.horizon / contenders) reply.share = Math.floor(reserved.share * 1000) / 1000;
  if (paused !== undefined) reply.paused = paused;
  if (voidAfter !== undefined) reply.voidAfter = voidAfter;
  if (reserved.retryAt > 0) {
    reply.retryAfter = Math.floor(reserved.retryAt * 1000 - instant.us) / 1000;
    if (takesTurns) reply.inTurn = true;
  }
  return reply;
}
