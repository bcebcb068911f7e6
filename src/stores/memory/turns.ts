import { isShort, isSlow, shortestInterval } from '../../limits/load.ts';
import type { LedgerState } from './ledgerState.ts';
import { areReturned, hasKind, keptLoad } from './pace.ts';

/** The most milliseconds between two calls of a client that takes turns. */
export const mostTurn = 1250;
/**
 * A call comes each time in which the kept permits of this part of the interval are granted: but of no less than one request of the
 * client, of no more than its first ones of equal costs, and after so many milliseconds at most. In a long interval, it comes after
 * so many unless `manyFree` calls like it could be granted all: what comes back is little beside the full rate.
 */
const pausePart = 0.01;
const mostPause = 250;
/**
 * That time is so many times as long after a call for which nothing was free, as most calls are in vain then: not for slow
 * requests, between whose calls many permits would come back unused, nor if so few faster ones fit into a short interval that each
 * counts.
 */
const inVain = 3;
const fewInVain = 32;
/**
 * That time is half as long if so many calls like this one could be granted all that they ask for: if each is for one request, or
 * no client reserves permits in front of its next call.
 */
const manyFree = 2;
/**
 * In a short interval, a client may be ahead of another one by so many of the other's requests, if these are no larger than its
 * own:
 * otherwise permits for which the other one has not called yet stay unused. But by no more than take so many milliseconds for all
 * clients, and by one in any case: one of them could wait for as long, again and again.
 */
const lead = 5;
const leadPeriod = 3000;
/** The same for slow requests of a sliding window, of which a client that is ahead keeps others waiting for long. */
const slowLead = 3;
/**
 * A client whose request stays queued has a claim to so many of it, in order, or if it is a slow one of a single permit, which fits
 * whenever a permit of the only limit, a fixed window, is free.
 */
const mostClaim = 6;
/** What a client asks for in its turn. The twin of this module is `lua/reserve/turns.lua`. */
export interface Asked {
  contenders: number;
  /** How many requests of the same cost the call begins with. */
  asked: number;
  /** How many requests could be granted at the first of them. */
  free: number;
}

/** What a client has taken in its turns. */
export interface Taken {
  client: string;
  contenders: number;
  /** Milliseconds of load. */
  taken: number;
  /** The same of the client that has taken least, of those that wait, or are likely to. */
  least: number;
}

/**
 * Whether clients that take turns reserve nothing at all, if many permits are refunded. A permit of a sliding window cannot be
 * granted again before a reservation that needs it.
 */
export function reservesNothing(ledger: LedgerState): boolean {
  return areReturned(ledger) && hasKind(ledger, 'slidingWindow');
}

/**
 * What a client that calls has taken. One that calls for the first time has taken as much as the client that has taken least, of
 * those that wait, or are likely to wait again; and one that did neither since its last call has no claim to what others
 * took meanwhile.
 */
export function takenBy({ tickets }: LedgerState, client: string): Pick<Taken, 'taken' | 'least'> {
  let own = 0;
  let least = Infinity;
  for (const ticket of tickets) {
    if (ticket.client === client) own = ticket.taken;
    if (ticket.stride !== 0) least = Math.min(least, ticket.taken);
  }
  if (least === Infinity) least = own;
  return { taken: Math.max(own, least), least };
}

/**
 * What a client counts as having taken of whose requests so many stay queued. In turns, its claim is smaller than the lead, so that
 * one whose request is too large, or needs another limit, holds up no others for ever; one whose request fits whenever a permit is
 * free may have a larger claim. So may all in order, where a claim counts in the larger one of its request and the other client's
 * last one: small requests would give it next to none.
 */
export function keepClaim(
  ledger: LedgerState,
  { taken, contenders, takesTurns }: Pick<Taken, 'taken' | 'contenders'> & { takesTurns: boolean },
  load: number,
  count: number,
): number {
  const areMany = !takesTurns || fitsAlways(ledger, load);
  const own = Math.max(1, leadOf(ledger, load, contenders) - 1);
  const most = areMany ? mostClaim : isSlow(ledger, load) ? own : Math.min(count, own);
  return ledger.tickets.reduce(
    (claimed, { taken: other, stride }) =>
      Math.max(claimed, other - most * (takesTurns ? load : Math.max(load, Math.abs(stride)))),
    taken,
  );
}

/** Whether a slow request is for a single permit of the only limit, a fixed window. */
function fitsAlways(ledger: LedgerState, load: number): boolean {
  const [{ kind, interval, permits }] = ledger.limits;
  const isLeast = ledger.limits.length === 1 && kind === 'fixedWindow' && load <= interval / permits;
  return isLeast && isSlow(ledger, load);
}

/** By how many requests of a load a client may be ahead of another one. */
function leadOf(ledger: LedgerState, load: number, contenders: number): number {
  if (fitsAlways(ledger, load)) return lead;
  if (!isShort(ledger)) return 1;
  const most = isSlow(ledger, load) && hasKind(ledger, 'slidingWindow') ? slowLead : lead;
  return Math.max(1, Math.min(most, Math.floor(leadPeriod / (load * contenders))));
}

/**
 * How many requests of `load` milliseconds a client may be granted of so many that are `free`: as long as enough is left for
 * each waiting client that has taken less to take as much. A client may be ahead of another one by its own last requests, and by
 * less than the other's next one: permits for a larger request are saved up once the others have taken as much.
 */
export function grantedInTurn(ledger: LedgerState, call: Taken, free: number, load: number): number {
  const most = leadOf(ledger, load, call.contenders);
  let granted = 0;
  let beyond = Math.max(1, free) + 1;
  while (granted < beyond - 1) {
    const middle = Math.floor((granted + beyond) / 2);
    const kept = keptForOthers(ledger, call, call.taken + (middle - 1) * load, load, most);
    if (kept === 0 || (free - middle) * load >= kept) granted = middle;
    else beyond = middle;
  }
  return granted;
}

/** What the others may take until each has as much as a client that has taken `taken`, with a request of `load`; `most` is the lead. */
function keptForOthers(ledger: LedgerState, call: Taken, taken: number, load: number, most: number): number {
  const { client, contenders, least } = call;
  let kept = 0;
  let others = contenders - 1;
  for (const ticket of ledger.tickets) {
    if (ticket.client === client) continue;
    others--;
    const behind = taken - ticket.taken;
    const isLarger = ticket.stride > load;
    if (ticket.stride > 0 && behind >= ticket.stride * (isLarger ? 1 : most)) kept += behind;
  }
  // Those that have not called yet have taken as much as the one that has taken least.
  return kept + (taken - least) * Math.max(0, others);
}

/** When permits last came back, or a fixed window started: those that it grants then may come back soon. */
function awaitedSince({ limits, movedAt }: LedgerState, now: number): number {
  const starts = limits.map((state) =>
    state.kind === 'fixedWindow' && state.start <= now ? state.start : 0,
  );
  return Math.max(movedAt, ...starts);
}

/**
 * When a client that takes turns is to call again: the first moment after those of the others that leaves them all equally long
 * pauses, so that no permit is free for long, and few calls come when none is. The next request of `load` milliseconds could be
 * granted at `t` if no permits come back. The longer none have, the later others are likely to: but not later than `t`.
 */
export function nextTurn(
  ledger: LedgerState,
  now: number,
  t: number,
  { contenders, free, asked }: Asked,
  load: number,
): number {
  const most = Math.max(load, shortestInterval(ledger) * pausePart);
  let pause = Math.min(mostPause, keptLoad(ledger, Math.min(asked * load, most)));
  if (!isShort(ledger) && free < manyFree * asked) pause = mostPause;
  if (free === 0) pause *= isSlow(ledger, load, shortestInterval(ledger) / fewInVain) ? 1 : inVain;
  else if (free >= manyFree * asked && (asked === 1 || reservesNothing(ledger))) pause /= 2;
  let turn = now;
  for (const { due } of ledger.tickets) turn = Math.max(turn, due);
  // Turns that clients had before they called again leave gaps: the line is no longer than all contenders take.
  turn = Math.max(now + 1, pause + Math.min(turn, now + (contenders - 1) * pause));
  return Math.min(now + mostTurn, turn + now - awaitedSince(ledger, now), Math.max(turn, t));
}
