import type { Limit } from '../../limits/limit.ts';

/** Milliseconds for which it is told that a pause was lifted: who is booked behind it asks more often, slow calls included. */
const told = 5000;

/** What holds for all clients of a limiter, by the server's own time. The twin of `lua/ledger/control.lua`. */
export interface Control {
  /** The rate that is stored. */
  limits: readonly Limit[] | undefined;
  /** Its names. */
  names: readonly string[];
  /** Milliseconds. */
  pausedSince: number;
  pausedUntil: number;
  /** Until when it is told that a pause was lifted. */
  liftedUntil: number;
  /** Ledgers of older epochs are forgotten. */
  forgotten: number;
  /** When the rate was stored: milliseconds. */
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

/** After a step of the clock back, a pause lasts no longer than it would have from its beginning. */
export function followPause(control: Control, now: number): void {
  const { pausedSince, pausedUntil } = control;
  if (now >= pausedSince || pausedUntil === 0) return;
  control.pausedUntil = now + pausedUntil - pausedSince;
  control.pausedSince = now;
  // A ledger that has not seen the step would take this end for that of a pause that was lifted.
  control.liftedUntil = 0;
}

/** Stores a rate, for ledgers of epochs up to `epoch`. The twin of `lua/configure.lua`, which opens the ledger afterwards. */
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

/** Lets nothing be granted for so many milliseconds, unless a pause ends later; answers how long it lasts. The twin of `lua/pause.lua`. */
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

/** Lifts a pause, and forgets the rate where that is asked for. The twin of `lua/forget.lua`, which drops the ledger too. */
export function lift(control: Control, rate: boolean, serverUs: number): void {
  const now = Math.floor(serverUs / 1000);
  if (control.pausedUntil > now) control.liftedUntil = now + told;
  control.pausedSince = 0;
  control.pausedUntil = 0;
  if (rate) {
    control.limits = undefined;
    control.forgotten = 0;
    control.changed = 0;
  }
  // Redis has no key for a control that says nothing.
  if (isIdle(control, now)) control.liftedUntil = 0;
}

/** Whether there is nothing to remember. */
export function isIdle({ limits, pausedUntil, liftedUntil }: Control, serverMs: number): boolean {
  return limits === undefined && Math.max(pausedUntil, liftedUntil) <= serverMs;
}
