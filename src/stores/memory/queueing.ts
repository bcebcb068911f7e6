import type { Cost } from '../../limits/cost.ts';
import { loadOf, shortestInterval } from '../../limits/load.ts';
import { contenderPeriod, outcome, type Run, type Segment } from '../store.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { fitAll, newestOf, type Offer } from './offer.ts';
import { callAtPace, callSooner } from './order.ts';
import { hasWindow, isRecent, keptLoad, keptPart } from './pace.ts';
import type { Quota } from './quota.ts';
import { noteMost } from './share.ts';
import { dropTicket, type Turn, takeTicket, turnOf } from './tickets.ts';
import { keepClaim, nextTurn, reservesNothing } from './turns.ts';

/** The client's reservations during a call. */
export interface Reservations extends Quota {
  /** While permits are rare, or the contenders take turns: the client's turn. */
  turn: Turn | undefined;
  /** Milliseconds of load that the client may reserve ahead if it has no other contenders. */
  horizon: number;
  /** When the client is to call again: milliseconds, or 0 if it need not. */
  retryAt: number;
  /** Milliseconds of load that the client may reserve ahead. */
  share: number;
  /** Milliseconds of load that the client has reserved. */
  held: number;
  /** The last moment that the client had reserved before this call, or 0. */
  last: number;
  /** Nothing is granted or reserved before this moment, so that the client's requests keep their order. */
  after: number;
  /** The requests that this call has granted ahead of reservations. */
  gaps: number;
  /** Whether no reservation stands, neither of this client nor of another one. */
  isClear: boolean;
  /** Whether the remaining requests stay queued: nothing more may be reserved, or the client waits for its turn. */
  left: boolean;
}

/**
 * Whether a request stays queued: of rare permits, only the client in front reserves, and no further ahead than its
 * horizon, or than the kept part of a request takes; the others reserve only what the pace alone delays, within their horizons;
 * clients that take turns reserve no more than their share, and nothing beyond their next turn, or nothing at all.
 */
export function staysQueued(
  ledger: LedgerState,
  now: number,
  cost: Cost,
  reserved: Reservations,
  { t, wait }: Offer,
  maxWait: number,
): boolean {
  const { turn, left, horizon, takesTurns, held, share } = reserved;
  const { isFirst, isBarred } = turn!;
  if (left || isBarred) return true;
  const load = loadOf(ledger, cost);
  // A request that may wait is granted permits that are free now. One that may not must not overtake waiting clients.
  if (wait === 0) return !isFirst && (maxWait === 0 || leavesToOthers(ledger, cost, reserved));
  if (!takesTurns && !isFirst) return t - now > horizon || !isPaced(ledger, now, cost);
  if (!takesTurns) return t - now > Math.max(horizon, keptLoad(ledger, load));
  const isEnough = held > 0 && held >= share;
  return isEnough || reservesNothing(ledger) || t > nextTurn(ledger, now, t, reserved, load);
}

/**
 * Whether nothing but the pace of several limits delays a request. Clients that have just been granted one would wait for all others
 * otherwise, while permits are free.
 */
function isPaced(ledger: LedgerState, now: number, cost: Cost): boolean {
  return ledger.limits.length > 1 && fitAll(ledger, now, now, cost, 1) > 0;
}

/**
 * While permits come back late, a client that waits in order may have been granted so many requests more than another one. If their
 * requests differ in size, so many shares are the most in any case: otherwise a small one would be granted for each large one.
 */
const leadInOrder = 4;
const leadBeside = 3;
/**
 * While no more than this part is kept, most permits that it leaves would stay unused. So it leaves them for requests of another
 * size only, no more than one of these needs, and only after so many shares: otherwise clients with small requests would take each
 * permit that comes back, and a large one would never be granted. Of those that come back late to a window, fewer come back.
 */
const leadOfFew = 5;
const leastKept = 0.15;
const leastInWindow = 0.3;

/**
 * Whether a client that waits in order leaves the permits that are free to others, even those that are ahead of the pace: one that
 * refunds would be granted each of its permits again before the others call. Not of several limits, of which another client may
 * wait for another one. Nor in windows that are no longer than its horizon: others would call too late.
 */
export function leavesToOthers(
  ledger: LedgerState,
  cost: Cost,
  { turn, takesTurns, taken, least, horizon, share }: Reservations,
): boolean {
  if (!turn || turn.isFirst || takesTurns || ledger.limits.length > 1) return false;
  if (shortestInterval(ledger) <= horizon) return false;
  const load = loadOf(ledger, cost);
  const kept = keptPart(ledger);
  const isMuch = kept > (hasWindow(ledger) ? leastInWindow : leastKept);
  if (isMuch && taken - least >= load * leadInOrder && isRecent(ledger, ledger.lateAt)) return true;
  const most = share * (kept > leastKept ? leadBeside : leadOfFew);
  const { seen: now } = ledger;
  const rest = kept > leastKept ? 0 : Math.max(0, fitAll(ledger, now, now, cost, Infinity) - 1) * load;
  return ledger.tickets.some(
    ({ stride, taken: other }) => stride > rest && stride !== load && taken - other > most,
  );
}

/** A client calls again in this part of the time if that is to be sooner. */
const sooner = 0.5;

/** Keeps the remaining requests of a run for the client's turn, or refuses them if that is too late. */
export function queue(
  ledger: LedgerState,
  { us, now }: Instant,
  { count, cost, maxWait }: Run,
  reserved: Reservations,
  t: number,
): Segment {
  const { client, takesTurns } = reserved;
  // Clients that take turns share what is free, so those in front do not delay them.
  const { delay, isFirst } = reserved.turn!;
  let turn = takesTurns ? t : t + delay;
  const wait = Math.ceil((isFirst ? t : turn) * 1000 - us);
  if (maxWait === 0 || wait > maxWait * 1000)
    return { count, delay: outcome.refused, retryAfter: Math.max(1000, wait) / 1000 };
  if (!reserved.left) {
    const until = now + contenderPeriod;
    const stride = loadOf(ledger, cost);
    const taken = keepClaim(ledger, reserved, stride, count);
    if (takesTurns) {
      turn = nextTurn(ledger, now, t, reserved, stride);
      reserved.retryAt = turn;
    } else {
      // Refunded permits come soon after their grants, if at all.
      const since = Math.abs(now - newestOf(ledger, cost, false));
      const pause = Math.max(keptLoad(ledger, stride), since) * (callSooner(ledger) ? sooner : 1);
      callAgain(ledger, reserved, now, Math.min(t - now, pause));
    }
    takeTicket(ledger, { client, due: turn, until, stride, taken }, takesTurns);
    if (stride >= reserved.share) noteMost(ledger, 'largest', stride, until);
    ledger.pacedUntil = Math.max(ledger.pacedUntil, until);
    reserved.left = true;
  }
  return { count, delay: outcome.queued, retryAfter: 0 };
}

/**
 * The part of a fixed window's permits that goes to the clients in front when it starts, as all come at once: those in front may
 * have more requests.
 */
const atStart = 0.5;

/**
 * Lets the client call again when its turn is expected, so many milliseconds after those of the clients in front: of a fixed
 * window, as soon as it starts, or that much sooner, if that is later.
 */
function callAgain(ledger: LedgerState, reserved: Reservations, now: number, wait: number): void {
  const [state] = ledger.limits;
  let at = now + reserved.turn!.expected + wait - reserved.horizon / 2;
  if (ledger.limits.length === 1 && state.kind === 'fixedWindow') {
    const start = state.start > now ? state.start : state.end;
    if (start > now && at > start) at = Math.max(start, at - keptLoad(ledger, state.interval * atStart));
  }
  reserved.retryAt = Math.max(at, now + 1);
}

/**
 * After a grant, the client's next request comes after those of the others, once it has taken its share, which is as much as their
 * largest request. In turns, that follows from what it has taken.
 */
export function goBehind(ledger: LedgerState, now: number, cost: Cost, reserved: Reservations): void {
  const { client, takesTurns, taken, least, share } = reserved;
  if (takesTurns) return;
  const load = loadOf(ledger, cost);
  if (taken + load > least + share) dropTicket(ledger, client);
  reserved.turn = turnOf(ledger, client, now, true);
  callAgain(ledger, reserved, now, keptLoad(ledger, load, callAtPace(ledger)));
  // It does not wait yet, but is likely to: those behind it count with that.
  takeTicket(
    ledger,
    { client, due: reserved.retryAt, until: now + contenderPeriod, stride: -load, taken },
    false,
  );
}
