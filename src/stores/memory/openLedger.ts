import { capacityOf, type Limit } from '../../limits/limit.ts';
import { algebraOf, isOf, type LimitState, startWith } from '../../limits/states.ts';
import { small } from '../../small.ts';
import { noticePeriod } from '../store.ts';
import { type Control, followPause } from './control.ts';
import { createLedger, expand, none, stateOf } from './createLedger.ts';
import { chargeDebts } from './debts.ts';
import { changeEpoch, noticeEnd, validUntil, voidReservations } from './epochs.ts';
import { closeHoles } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/**
 * The fewest milliseconds that a ledger is kept: a limiter in use keeps its epoch even if it is full again before each call. One with
 * a window on the clock is kept for as long after its end.
 */
const leastLife = 1000;

/**
 * Opens the ledger at the server's time, in whole microseconds, under the limits in force. A new ledger has a
 * later epoch than the one it replaces, or than `after` if that one was dropped, and a clock that is `late` milliseconds behind
 * the server's. `isOwn` is set for the ledger of one client. The twin of `lua/ledger/state.lua`.
 */
export function openLedger(
  kept: LedgerState | undefined,
  names: readonly string[],
  own: readonly Limit[],
  serverUs: number,
  control: Control,
  after = 0,
  late = 0,
  isOwn = false,
): { ledger: LedgerState; instant: Instant } {
  const limits = control.limits ?? own;
  const ledger = expand(renew(kept, names, limits, serverUs, control, after, late));
  const { shift } = ledger;
  const serverMs = Math.floor(serverUs / 1000);
  const instant = instantOf(ledger, serverUs);
  const { now } = instant;
  followPause(control, serverMs);
  const isAlone = ledger.limits.length === 1;
  for (const state of ledger.limits) algebraOf(state).roll(state, now, shift, isAlone);
  closeHoles(ledger, now, now);
  followLifted(ledger, control, instant, serverUs);
  if (!isUnder(ledger, names, limits)) {
    // With the scope `client`, a ledger may be opened some time after the change; and a stored rate that is deleted leaves the
    // ledgers of the other clients. In a ledger of several clients with limits of their own, each keeps its reservations.
    const changed = Math.min(control.limits ? control.changed : serverMs, serverMs) + shift;
    if (control.limits || isOwn)
      voidReservations(ledger, now, Math.max(now, changed + noticePeriod), serverUs);
    else changeEpoch(ledger, serverUs);
    convert(ledger, names, limits, now);
    chargeDebts(ledger, instant);
  }
  return { ledger, instant };
}

/** The ledger at the server's time; a new one if no grant counts any more. */
export function renew(
  kept: LedgerState | undefined,
  names: readonly string[],
  limits: readonly Limit[],
  serverUs: number,
  control: Control,
  after: number,
  late: number,
): LedgerState {
  // Compared before the clock is followed, as a step back changes the epoch.
  const isForgotten = kept !== undefined && kept.epoch < control.forgotten;
  const ledger = kept && followClock(kept, serverUs);
  if (ledger && ledger.expires > ledger.seen && !isForgotten) return ledger;
  // Later than the epoch of an expired ledger, even if the clock has stepped back since.
  const epoch = Math.max((ledger?.epoch ?? after) + 1, control.forgotten, serverUs);
  return createLedger(names, limits, epoch, Math.floor(serverUs / 1000), late);
}

/** The server's time by the clock of an open ledger. */
export function instantOf({ shift }: LedgerState, serverUs: number): Instant {
  return {
    us: serverUs + shift * 1000,
    now: small(Math.floor(serverUs / 1000) + shift),
    at: small(Math.ceil(serverUs / 1000) + shift),
  };
}

function followClock(kept: LedgerState, serverUs: number): LedgerState {
  const { now } = instantOf(kept, serverUs);
  if (now >= kept.seen) {
    kept.seen = now;
    return kept;
  }
  const ledger = expand(kept);
  ledger.shift += ledger.seen - now;
  changeEpoch(ledger, serverUs);
  ledger.refundable = ledger.epoch;
  // The grid of windows moves with the clock, so earlier reservations no longer fit it.
  ledger.holes = none;
  return ledger;
}

/**
 * If another client has lifted the pause, voids the reservations behind it. Their clients receive the change
 * in time.
 */
function followLifted(ledger: LedgerState, control: Control, instant: Instant, serverUs: number): void {
  const { now } = instant;
  const pausedUntil = pauseEnd(ledger, control);
  const isLifted = control.liftedUntil > Math.floor(serverUs / 1000);
  if (ledger.pausedUntil > now && pausedUntil < ledger.pausedUntil && isLifted) {
    voidReservations(ledger, now, now + noticePeriod, serverUs);
    chargeDebts(ledger, instant);
  }
  ledger.pausedUntil = pausedUntil;
}

/** The end of the pause in the control, by the ledger's clock; 0 if it was long ago. */
export function pauseEnd({ shift }: LedgerState, { pausedUntil }: Control): number {
  return Math.max(0, pausedUntil + shift);
}

/** Whether the ledger was kept under exactly these limits. */
export function isUnder(ledger: LedgerState, names: readonly string[], limits: readonly Limit[]): boolean {
  if (ledger.under === limits && ledger.names === names) return true;
  if (names.length !== ledger.names.length || names.some((name, i) => name !== ledger.names[i])) return false;
  if (!limits.every((limit, i) => isOf(ledger.limits[i], limit))) return false;
  ledger.under = limits;
  ledger.names = names;
  return true;
}

/** Converts the ledger to other limits. The permits taken carry over. */
function convert(ledger: LedgerState, names: readonly string[], limits: readonly Limit[], now: number): void {
  const before = new Map(ledger.names.map((name, i) => [name, ledger.limits[i]]));
  const all = ledger.limits.map((state) => algebraOf(state).taken(state));
  const most = {
    permits: Math.max(...all.map((t) => t.permits)),
    newest: Math.max(...all.map((t) => t.newest)),
  };
  ledger.limits = limits.map((limit, i) => {
    const state = before.get(names[i]);
    if (state?.kind === limit.kind) {
      if (!isOf(state, limit) && algebraOf(state).adopt(state, limit, ledger.shift))
        ledger.refundable = ledger.epoch;
      return state;
    }
    const { permits, newest } = state ? algebraOf(state).taken(state) : most;
    // The permits of another name may count something else, so no more of them than a full limit has.
    const taken = state ? permits : Math.min(permits, capacityOf(limit));
    // The new state holds earlier grants as one, so they cannot be refunded one by one.
    ledger.refundable = ledger.epoch;
    return startWith(limit, taken, newest, now, ledger.shift);
  });
  ledger.debts = ledger.debts
    .map((debt) => ({ ...debt, limit: names.indexOf(ledger.names[debt.limit]) }))
    .filter(({ limit }) => limit >= 0);
  ledger.names = names;
  ledger.under = limits;
  ledger.holes = none;
  ledger.frontiers = none;
  ledger.largestUntil = 0;
}

/** Milliseconds after which the reservations of a known epoch are void; undefined if none are. */
export function voidAfterOf(ledger: LedgerState, { us }: Instant, known: number): number | undefined {
  if (known === 0 || known === ledger.epoch) return undefined;
  const until = validUntil(ledger, known);
  return until === Infinity ? undefined : Math.max(0, until * 1000 - us) / 1000;
}

/** Milliseconds until the pause ends; undefined if there is none. */
export function pausedFor({ pausedUntil }: LedgerState, { us }: Instant): number | undefined {
  const left = pausedUntil * 1000 - us;
  return left > 0 ? left / 1000 : undefined;
}

/** The permits of each limit that are free now. */
export function availableNow(ledger: LedgerState, { now, at }: Instant): number[] {
  // A literal, since V8 creates it at once with the elements that it has.
  const available = [availableOf(stateOf(ledger, 0), ledger, now, at)];
  for (let i = 1; i < ledger.under.length; i++)
    available.push(availableOf(stateOf(ledger, i), ledger, now, at));
  return available;
}

function availableOf(state: LimitState, { pausedUntil }: LedgerState, now: number, at: number): number {
  return pausedUntil > now ? 0 : algebraOf(state).available(state, now, at);
}

/** The moment at which all permits will be free again. */
function fullAt(ledger: LedgerState, now: number): number {
  let full = now;
  for (let i = 0; i < ledger.under.length; i++)
    full = Math.max(full, algebraOf(stateOf(ledger, i)).full(stateOf(ledger, i), now));
  return full;
}

/**
 * Sets how long the ledger is needed: until all grants have expired, all clients have received the last
 * change, and no client waits for rare permits. Returns the moment at which all permits will be free again.
 */
export function closeLedger(ledger: LedgerState, { now }: Instant): number {
  const full = fullAt(ledger, now);
  const orderedUntil = ledger.tickets.length > 0 ? ledger.pacedUntil : 0;
  const usedUntil = isAligned(ledger) ? full + leastLife : full;
  ledger.expires = Math.max(now + leastLife, usedUntil, noticeEnd(ledger), orderedUntil);
  return full;
}

/** Whether it has a window on the clock: after a step back, that window may be the present one again. */
function isAligned(ledger: LedgerState): boolean {
  for (let i = 0; i < ledger.under.length; i++) {
    const state = stateOf(ledger, i);
    if (state.kind === 'fixedWindow' && state.align === 'epoch') return true;
  }
  return false;
}
