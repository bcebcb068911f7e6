import { algebraOf } from '../../limits/states.ts';
import type { LastMoment } from '../store.ts';
import type { LedgerState } from './ledgerState.ts';

/** Milliseconds within which every client with waiting requests has called again: what is booked further ahead can be made void. */
export const heard = 2000;
/** At most so many changes are told apart: beyond that the two oldest count as one. */
const mostVoids = 8;

export function changeEpoch(ledger: LedgerState, serverUs: number): void {
  ledger.epoch = Math.max(ledger.epoch + 1, serverUs);
}

/** Makes void what is booked for later than the moment `after`, by which its clients have called again. Changes the epoch. */
export function voidBookings(ledger: LedgerState, now: number, after: number, serverUs: number): void {
  ledger.frontier = Math.min(ledger.frontier, now);
  ledger.holes = ledger.holes.filter(({ moment }) => moment < after);
  for (const state of ledger.limits) algebraOf(state).cut(state, now, after);
  changeEpoch(ledger, serverUs);
  const { voids } = ledger;
  while (voids.length > 1 && voids[0].from + heard <= now) voids.shift();
  voids.push({ epoch: ledger.epoch, from: after });
  if (voids.length <= mostVoids) return;
  const [{ from }] = voids.splice(0, 1);
  voids[0].from = Math.min(voids[0].from, from);
}

/** The moment from which on nothing stands that was booked under an epoch: milliseconds, or Infinity. */
export function standingUntil({ born, voids }: LedgerState, epoch: number): number {
  if (epoch < born) return 0;
  let until = Infinity;
  for (const { epoch: later, from } of voids) if (later > epoch) until = Math.min(until, from);
  return until;
}

/** The last moment that a client holds, by the ledger's clock, as far as it stands. */
export function lastOf(ledger: LedgerState, last: LastMoment | undefined): number {
  if (!last || last.epoch < ledger.refundable) return 0;
  const moment = last.moment + ledger.shift;
  return moment < standingUntil(ledger, last.epoch) ? moment : 0;
}

/** The moment by which every client has received the last of these changes: milliseconds. */
export function heardBy({ voids }: LedgerState): number {
  return voids.length === 0 ? 0 : voids[voids.length - 1].from + heard;
}
