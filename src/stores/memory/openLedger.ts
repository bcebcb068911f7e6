import type { Limit } from '../../limits/limit.ts';
import { algebraOf, isOf, startWith } from '../../limits/states.ts';
import { noContenders } from './contenders.ts';
import { type Control, followPause } from './control.ts';
import { changeEpoch, heard, heardBy, standingUntil, voidBookings } from './epochs.ts';
import { closeHoles } from './holes.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/**
 * The ledger as it stands at the server's time, under the limits in force. `serverUs` is in whole microseconds. A new one is
 * of a later epoch than the one it takes the place of, or than `after` where that was dropped.
 */
export function openLedger(
  kept: LedgerState | undefined,
  names: readonly string[],
  own: readonly Limit[],
  serverUs: number,
  control: Control,
  after = 0,
): { ledger: LedgerState; instant: Instant } {
  const limits = control.limits ?? own;
  let ledger = kept;
  // Before the clock is followed, as a step gives it a new epoch.
  const isForgotten = kept !== undefined && kept.epoch < control.forgotten;
  if (ledger) followClock(ledger, serverUs);
  if (!ledger || ledger.expires <= ledger.seen || isForgotten) {
    // Above the epoch of a ledger that is over, though the clock has stepped back since.
    const epoch = Math.max((kept?.epoch ?? after) + 1, control.forgotten, serverUs);
    ledger = createLedger(names, limits, epoch, serverUs, kept?.sequences);
  }
  const { shift } = ledger;
  const serverMs = Math.floor(serverUs / 1000);
  const now = serverMs + shift;
  followPause(control, serverMs);
  for (const state of ledger.limits) algebraOf(state).roll(state, now, shift);
  closeHoles(ledger, now, now);
  followLifted(ledger, control, now, serverUs);
  if (!isUnder(ledger, names, limits)) {
    // A client with a ledger of its own may come to it some time after the change.
    const changed = Math.min(control.changed, serverMs) + shift;
    if (control.limits) voidBookings(ledger, now, Math.max(now, changed + heard), serverUs);
    else changeEpoch(ledger, serverUs);
    convert(ledger, names, limits, now);
  }
  return { ledger, instant: instantOf(ledger, serverUs) };
}

/** The server's time as a ledger sees it that is open. */
export function instantOf({ shift }: LedgerState, serverUs: number): Instant {
  return {
    us: serverUs + shift * 1000,
    now: Math.floor(serverUs / 1000) + shift,
    at: Math.ceil(serverUs / 1000) + shift,
  };
}

function createLedger(
  names: readonly string[],
  limits: readonly Limit[],
  epoch: number,
  serverUs: number,
  sequences: LedgerState['sequences'],
): LedgerState {
  return {
    epoch,
    born: epoch,
    refundable: epoch,
    shift: 0,
    seen: Math.floor(serverUs / 1000),
    expires: 0,
    frontier: 0,
    pacedUntil: 0,
    granted: 0,
    returned: 0,
    holes: [],
    contenders: noContenders(),
    voids: [],
    freed: 0,
    movedAt: 0,
    credit: 0,
    pausedUntil: 0,
    names,
    limits: limits.map((limit) => algebraOf(limit).create(limit)),
    under: limits,
    sequences,
  };
}

function followClock(ledger: LedgerState, serverUs: number): void {
  const now = Math.floor(serverUs / 1000) + ledger.shift;
  if (now < ledger.seen) {
    ledger.shift += ledger.seen - now;
    changeEpoch(ledger, serverUs);
    ledger.refundable = ledger.epoch;
    // The grid of windows moves with the clock: what was booked before lies elsewhere on it.
    ledger.holes = [];
  } else ledger.seen = now;
}

/** Where another client has lifted the pause, whoever is booked behind it hears of that in time. */
function followLifted(ledger: LedgerState, control: Control, now: number, serverUs: number): void {
  const pausedUntil = control.pausedUntil + ledger.shift;
  const isLifted = control.liftedUntil > Math.floor(serverUs / 1000);
  if (ledger.pausedUntil > now && pausedUntil < ledger.pausedUntil && isLifted) {
    voidBookings(ledger, now, now + heard, serverUs);
  }
  ledger.pausedUntil = pausedUntil;
}

/** Whether the ledger is kept under just these limits. */
export function isUnder(ledger: LedgerState, names: readonly string[], limits: readonly Limit[]): boolean {
  if (ledger.under === limits && ledger.names === names) return true;
  if (names.length !== ledger.names.length || names.some((name, i) => name !== ledger.names[i])) return false;
  if (!limits.every((limit, i) => isOf(ledger.limits[i], limit))) return false;
  ledger.under = limits;
  ledger.names = names;
  return true;
}

/** Brings the ledger under other limits, by what is taken. */
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
      if (!isOf(state, limit)) algebraOf(limit).adopt(state, limit);
      return state;
    }
    const { permits, newest } = state ? algebraOf(state).taken(state) : most;
    // Of what was granted before, nothing can be told apart in it.
    ledger.refundable = ledger.epoch;
    return startWith(limit, permits, newest, now, ledger.shift);
  });
  ledger.names = names;
  ledger.under = limits;
  ledger.holes = [];
}

/** Milliseconds from now from which on nothing stands that was booked by a client who knows an epoch; undefined if all does. */
export function voidAfterOf(ledger: LedgerState, { us }: Instant, known: number): number | undefined {
  if (known === 0 || known === ledger.epoch) return undefined;
  const until = standingUntil(ledger, known);
  return until === Infinity ? undefined : Math.max(0, until * 1000 - us) / 1000;
}

/** Milliseconds until the pause ends; undefined if there is none. */
export function pausedFor({ pausedUntil }: LedgerState, { us }: Instant): number | undefined {
  const left = pausedUntil * 1000 - us;
  return left > 0 ? left / 1000 : undefined;
}

/** The permits of each limit that could be granted at once. */
export function availableNow({ limits, pausedUntil }: LedgerState, { now, at }: Instant): number[] {
  const available: number[] = [];
  for (const state of limits)
    available.push(pausedUntil > now ? 0 : algebraOf(state).available(state, now, at));
  return available;
}

/** The moment at which everything granted and booked will have come back. */
export function fullAt(ledger: LedgerState, now: number): number {
  let full = now;
  for (const state of ledger.limits) full = Math.max(full, algebraOf(state).full(state, now));
  return full;
}

/** Notes until when the ledger is needed: until all has come back, and all clients have heard of a change. */
export function closeLedger(ledger: LedgerState, { now }: Instant): void {
  ledger.expires = Math.max(now + 1, fullAt(ledger, now), heardBy(ledger));
}
