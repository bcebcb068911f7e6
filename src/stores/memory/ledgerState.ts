import type { Limit } from '../../limits/limit.ts';
import { algebraOf, isOf, type LimitState, startWith } from '../../limits/states.ts';
import { type Contenders, noContenders } from './contenders.ts';

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
  /** When all has come back, so that the ledger may be forgotten. */
  expires: number;
  /** While there is contention, windows grant nothing before it. */
  frontier: number;
  /** Until when the frontier holds after the contention. */
  pacedUntil: number;
  contenders: Contenders;
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
  limits: readonly Limit[],
  serverUs: number,
): { ledger: LedgerState; instant: Instant } {
  let ledger = kept;
  if (ledger) followClock(ledger, serverUs);
  if (!ledger || ledger.expires <= ledger.seen) {
    // Above the epoch of a ledger that is over, though the clock has stepped back since.
    const epoch = Math.max((kept?.epoch ?? 0) + 1, serverUs);
    ledger = createLedger(names, limits, epoch, serverUs);
  }
  const { shift } = ledger;
  const now = Math.floor(serverUs / 1000) + shift;
  for (const state of ledger.limits) algebraOf(state).roll(state, now, shift);
  if (convert(ledger, names, limits, now)) changeEpoch(ledger, serverUs);
  return { ledger, instant: { us: serverUs + shift * 1000, now, at: Math.ceil(serverUs / 1000) + shift } };
}

function createLedger(
  names: readonly string[],
  limits: readonly Limit[],
  epoch: number,
  serverUs: number,
): LedgerState {
  return {
    epoch,
    shift: 0,
    seen: Math.floor(serverUs / 1000),
    expires: 0,
    frontier: 0,
    pacedUntil: 0,
    contenders: noContenders(),
    names,
    limits: limits.map((limit) => algebraOf(limit).create(limit)),
    sequences: new Map(),
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

/** Brings the ledger under other limits, by what is taken. Says whether any differed. */
function convert(
  ledger: LedgerState,
  names: readonly string[],
  limits: readonly Limit[],
  now: number,
): boolean {
  const renamed = names.length !== ledger.names.length || names.some((name, i) => name !== ledger.names[i]);
  if (!renamed && limits.every((limit, i) => isOf(ledger.limits[i], limit))) return false;
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
    return startWith(limit, permits, newest, now, ledger.shift);
  });
  ledger.names = names;
  return true;
}

/** The moment at which everything granted and booked will have come back. */
export function fullAt(ledger: LedgerState, now: number): number {
  let full = now;
  for (const state of ledger.limits) full = Math.max(full, algebraOf(state).full(state, now));
  return full;
}

/** Notes until when the ledger is needed. */
export function closeLedger(ledger: LedgerState, { now }: Instant): void {
  ledger.expires = Math.max(now + 1, fullAt(ledger, now));
}
