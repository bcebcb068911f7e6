import type { Limit } from '../../limits/limit.ts';
import { algebraOf, isOf, type LimitState, startWith } from '../../limits/states.ts';
import { type Contenders, noContenders } from './contenders.ts';
import { type Control, followPause } from './control.ts';

/** Clients with waiters ask at least so often: milliseconds. What is booked further ahead can be made void. */
const heard = 2000;

/**
 * All that is known of one limiter. Times are milliseconds of the ledger's own clock: the server's, moved on by `shift`
 * whenever that has stepped back, so that nobody waits for it to catch up. The twin of `lua/ledger/state.lua`.
 */
export interface LedgerState {
  /** Unique; changes whenever what was granted before can no longer be given back. */
  epoch: number;
  shift: number;
  /** The latest now. */
  seen: number;
  /** When the ledger may be forgotten. */
  expires: number;
  /** While there is contention, windows grant nothing before it. */
  frontier: number;
  /** Until when the frontier holds after the contention. */
  pacedUntil: number;
  contenders: Contenders;
  /** What was booked under an epoch before this one, for `voidFrom` or later, stands no more. */
  voidEpoch: number;
  voidFrom: number;
  /** When every client will have heard of that, slow calls included. */
  heardBy: number;
  /** The end of a pause, of the limiter's control. */
  pausedUntil: number;
  names: readonly string[];
  limits: LimitState[];
  /** The last sequence of refunds of each limiter, and until when it is remembered. */
  sequences: Map<string, { last: number; until: number }>;
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

/** The ledger as it stands at the server's time, under the limits in force. `serverUs` is in whole microseconds. */
export function openLedger(
  kept: LedgerState | undefined,
  names: readonly string[],
  own: readonly Limit[],
  serverUs: number,
  control: Control,
): { ledger: LedgerState; instant: Instant } {
  const limits = control.limits ?? own;
  let ledger = kept;
  // Before the clock is followed, as a step gives it a new epoch.
  const isForgotten = kept !== undefined && kept.epoch < control.forgotten;
  if (ledger) followClock(ledger, serverUs);
  if (!ledger || ledger.expires <= ledger.seen || isForgotten) {
    // Above the epoch of a ledger that is over, though the clock has stepped back since.
    const epoch = Math.max((kept?.epoch ?? 0) + 1, control.forgotten, serverUs);
    ledger = createLedger(names, limits, epoch, serverUs, kept?.sequences);
  }
  const { shift } = ledger;
  const serverMs = Math.floor(serverUs / 1000);
  const now = serverMs + shift;
  followPause(control, serverMs);
  for (const state of ledger.limits) algebraOf(state).roll(state, now, shift);
  followLifted(ledger, control, now, serverUs);
  if (!isUnder(ledger, names, limits)) {
    // A client with a ledger of its own may come to it some time after the change.
    const changed = Math.min(control.changed, serverMs) + shift;
    if (control.limits) voidBookings(ledger, now, Math.max(now, changed + heard));
    convert(ledger, names, limits, now);
    changeEpoch(ledger, serverUs);
    if (control.limits) ledger.voidEpoch = ledger.epoch;
  }
  return { ledger, instant: { us: serverUs + shift * 1000, now, at: Math.ceil(serverUs / 1000) + shift } };
}

function createLedger(
  names: readonly string[],
  limits: readonly Limit[],
  epoch: number,
  serverUs: number,
  sequences: LedgerState['sequences'] = new Map(),
): LedgerState {
  return {
    epoch,
    shift: 0,
    seen: Math.floor(serverUs / 1000),
    expires: 0,
    frontier: 0,
    pacedUntil: 0,
    contenders: noContenders(),
    voidEpoch: epoch,
    voidFrom: 0,
    heardBy: 0,
    pausedUntil: 0,
    names,
    limits: limits.map((limit) => algebraOf(limit).create(limit)),
    sequences,
  };
}

function followClock(ledger: LedgerState, serverUs: number): void {
  const now = Math.floor(serverUs / 1000) + ledger.shift;
  if (now < ledger.seen) {
    ledger.shift += ledger.seen - now;
    changeEpoch(ledger, serverUs);
  } else ledger.seen = now;
}

function changeEpoch(ledger: LedgerState, serverUs: number): void {
  ledger.epoch = Math.max(ledger.epoch + 1, serverUs);
}

/** Takes back what is booked for later than a moment, by which its clients will have heard of it: they ask again. */
function voidBookings(ledger: LedgerState, now: number, after: number): void {
  // Who has not heard of the change before this one, either, must not count on what that one made void.
  if (ledger.heardBy <= now) ledger.voidFrom = after;
  ledger.voidFrom = Math.min(ledger.voidFrom, after);
  ledger.heardBy = after + heard;
  ledger.frontier = Math.min(ledger.frontier, after);
  for (const state of ledger.limits) algebraOf(state).cut(state, now, after);
}

/** Where another client has lifted the pause, whoever is booked behind it hears of that in time. */
function followLifted(ledger: LedgerState, control: Control, now: number, serverUs: number): void {
  const pausedUntil = control.pausedUntil + ledger.shift;
  const isLifted = control.liftedUntil > Math.floor(serverUs / 1000);
  if (ledger.pausedUntil > now && pausedUntil < ledger.pausedUntil && isLifted) {
    voidBookings(ledger, now, now + heard);
    changeEpoch(ledger, serverUs);
    ledger.voidEpoch = ledger.epoch;
  }
  ledger.pausedUntil = pausedUntil;
}

/** Whether the ledger is kept under just these limits. */
function isUnder(ledger: LedgerState, names: readonly string[], limits: readonly Limit[]): boolean {
  if (names.length !== ledger.names.length || names.some((name, i) => name !== ledger.names[i])) return false;
  return limits.every((limit, i) => isOf(ledger.limits[i], limit));
}

/** Brings the ledger under other limits, by what is taken. */
function convert(ledger: LedgerState, names: readonly string[], limits: readonly Limit[], now: number): void {
  const before = new Map(ledger.names.map((name, i) => [name, ledger.limits[i]]));
  const all = ledger.limits.map((state) => algebraOf(state).taken(state));
  const most = {
    permits: Math.max(...all.map((t) => t.permits)),
    newest: Math.max(...all.map((t) => t.newest)),
    latest: Math.max(...all.map((t) => t.latest)),
  };
  ledger.limits = limits.map((limit, i) => {
    const state = before.get(names[i]);
    if (state?.kind === limit.kind) {
      if (!isOf(state, limit)) algebraOf(limit).adopt(state, limit);
      return state;
    }
    const { permits, newest, latest } = state ? algebraOf(state).taken(state) : most;
    return startWith(limit, permits, newest, latest, now, ledger.shift);
  });
  ledger.names = names;
}

/** Milliseconds from now from which on nothing stands that was booked by a client who knows an epoch; undefined if all does. */
export function standingOf(ledger: LedgerState, { us }: Instant, known: number): number | undefined {
  const { epoch, voidEpoch, voidFrom } = ledger;
  if (known === 0 || known === epoch || (known >= voidEpoch && known < epoch)) return undefined;
  return Math.max(0, voidFrom * 1000 - us) / 1000;
}

/** Milliseconds until the pause ends; undefined if there is none. */
export function pausedFor({ pausedUntil }: LedgerState, { us }: Instant): number | undefined {
  const left = pausedUntil * 1000 - us;
  return left > 0 ? left / 1000 : undefined;
}

/** The permits of each limit that could be granted at once. */
export function availableNow({ limits, pausedUntil }: LedgerState, { now, at }: Instant): number[] {
  return limits.map((state) => (pausedUntil > now ? 0 : algebraOf(state).available(state, now, at)));
}

/** The moment at which everything granted and booked will have come back. */
export function fullAt(ledger: LedgerState, now: number): number {
  let full = now;
  for (const state of ledger.limits) full = Math.max(full, algebraOf(state).full(state, now));
  return full;
}

/** Notes until when the ledger is needed: until all has come back, and all clients have heard of a change. */
export function closeLedger(ledger: LedgerState, { now }: Instant): void {
  ledger.expires = Math.max(now + 1, fullAt(ledger, now), ledger.heardBy);
}
