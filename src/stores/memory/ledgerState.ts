import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import { algebraOf, isOf, type LimitState, startWith } from '../../limits/states.ts';
import { type Contenders, noContenders } from './contenders.ts';
import { type Control, followPause } from './control.ts';
import { changeEpoch, heard, heardBy, standingUntil, type Void, voidBookings } from './epochs.ts';
import { closeHoles } from './holes.ts';

/**
 * All that is known of one limiter. Times are milliseconds of the ledger's own clock: the server's, moved on by `shift`
 * whenever that has stepped back, so that nobody waits for it to catch up. The twin of `lua/ledger/state.lua`.
 */
export interface LedgerState {
  /** Unique; changes whenever bookings are made void, or counted in another way. */
  epoch: number;
  /** The first epoch: of older ones nothing is known. */
  born: number;
  /** The epoch since which grants can be given back: older ones were told by another clock, or counted by another kind of limit. */
  refundable: number;
  shift: number;
  /** The latest now. */
  seen: number;
  /** When the ledger may be forgotten. */
  expires: number;
  /** While there is contention, windows grant nothing before it. */
  frontier: number;
  /** Until when the frontier holds after the contention. */
  pacedUntil: number;
  /** Milliseconds of load that were granted of late, and those of them that were given back: a pace counts what is kept. */
  granted: number;
  returned: number;
  /** Reservations that were given back from the middle of the line, by their moments: the next to come takes them over. */
  holes: Hole[];
  contenders: Contenders;
  /** The last changes that made bookings void, the oldest first. */
  voids: Void[];
  /** Milliseconds of load that came back and is not granted again, since bookings were last made void for it; and when that was. */
  freed: number;
  movedAt: number;
  /** Milliseconds by which the frontier need not move: room that a move of the line has left. */
  credit: number;
  /** The end of a pause, of the limiter's control. */
  pausedUntil: number;
  names: readonly string[];
  limits: LimitState[];
  /** The limits that these are the states of. */
  under: readonly Limit[];
  /** The last sequence of refunds of each limiter, and until when it is remembered; undefined until there is one. */
  sequences: Map<string, { last: number; until: number }> | undefined;
}

/** Requests of a cost whose reservation is charged, and free for whoever asks for the same. */
export interface Hole {
  moment: number;
  cost: Cost;
  count: number;
}

/** The server's time as the ledger sees it. */
export interface Instant {
  /** Microseconds, whole: the true now. */
  us: number;
  /** Milliseconds, rounded down. */
  now: number;
  /** Milliseconds, rounded up: the first moment that can be granted. */
  at: number;
}

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
