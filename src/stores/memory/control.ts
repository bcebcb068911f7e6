import type { Limit } from '../../limits/limit.ts';

/**
 * The state that applies to all clients of a limiter: the stored rate, if there is one, and a pause. Its times
 * are the server's, without a ledger's shift. The twin of `lua/ledger/control.lua`.
 */
export interface Control {
  /** The stored rate, if there is one. */
  limits: readonly Limit[] | undefined;
  /** The names of its limits. */
  names: readonly string[];
  /** The pause, in milliseconds. */
  pausedSince: number;
  pausedUntil: number;
  /** Until when clients are notified that a pause was lifted: the latest end of those that were. */
  liftedUntil: number;
  /** Grants in ledgers of an older epoch are forgotten. */
  forgotten: number;
  /** When the rate was stored, in milliseconds. */
  changed: number;
}

export function noControl(): Control {
  return {
    limits: undefined,
    names: [],
    pausedSince: 0,
    pausedUntil: 0,
    liftedUntil: 0,
    forgotten: 0,
    changed: 0,
  };
}

/** After the clock has stepped back, a pause ends after its original length, counted from now. */
export function followPause(control: Control, now: number): void {
  const { pausedSince, pausedUntil } = control;
  if (now >= pausedSince || pausedUntil === 0) return;
  control.pausedUntil = now + pausedUntil - pausedSince;
  control.pausedSince = now;
  // A ledger that has not seen the step would take the earlier end for a lifted pause.
  control.liftedUntil = 0;
}

/**
 * Stores a rate. `epoch` is that of the present ledger. The twin of `lua/configure.lua`, which also opens the
 * ledger.
 */
export function storeRate(
  control: Control,
  names: readonly string[],
  limits: readonly Limit[],
  keepState: boolean,
  epoch: number,
  serverUs: number,
): void {
  control.names = names;
  control.limits = limits;
  control.changed = Math.floor(serverUs / 1000);
  if (!keepState) control.forgotten = Math.max(control.forgotten + 1, epoch + 1, serverUs);
}

/**
 * Pauses for `ms` milliseconds, unless an earlier pause ends later. Returns how long the pause lasts. The
 * twin of `lua/pause.lua`.
 */
export function pause(control: Control, ms: number, serverUs: number): number {
  const now = Math.floor(serverUs / 1000);
  followPause(control, now);
  const length = Math.floor(ms * 1000);
  const until = Math.ceil((serverUs + length) / 1000);
  if (length > 0 && until > control.pausedUntil) {
    control.pausedSince = now;
    control.pausedUntil = until;
  }
  return Math.max(0, control.pausedUntil * 1000 - serverUs) / 1000;
}

/**
 * Lifts a pause, and forgets the stored rate if `rate` is set. The twin of `lua/forget.lua`, which also
 * deletes the ledger.
 */
export function lift(control: Control, rate: boolean, serverUs: number): void {
  const now = Math.floor(serverUs / 1000);
  // A client may be away for as long as it has reservations behind the pause, and its requests would wait for them.
  control.liftedUntil = Math.max(control.liftedUntil, control.pausedUntil);
  control.pausedSince = 0;
  control.pausedUntil = 0;
  if (rate) {
    control.limits = undefined;
    control.forgotten = 0;
    control.changed = 0;
  }
  // Redis deletes the key of an idle control, and `liftedUntil` with it.
  if (isIdle(control, now)) control.liftedUntil = 0;
}

/** Whether the control holds neither a rate nor a pause. */
export function isIdle({ limits, pausedUntil, liftedUntil }: Control, serverMs: number): boolean {
  return limits === undefined && Math.max(pausedUntil, liftedUntil) <= serverMs;
}
