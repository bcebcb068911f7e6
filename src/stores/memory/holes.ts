import type { Cost } from '../../limits/cost.ts';
import { sameCost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import type { Hole, LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';

/** At most so many holes are remembered: each is looked at by every call that waits. */
const mostHoles = 32;

/** Remembers a reservation that was given back from the middle of the line. Says whether there was room for it. */
export function addHole(ledger: LedgerState, moment: number, cost: Cost, count: number): boolean {
  const { holes } = ledger;
  const index = holes.findIndex((hole) => hole.moment > moment);
  const place = index < 0 ? holes.length : index;
  const before = holes[place - 1];
  if (before?.moment === moment && sameCost(before.cost, cost)) before.count += count;
  else if (holes.length >= mostHoles) return false;
  else holes.splice(place, 0, { moment, cost, count });
  return true;
}

/** The earliest hole of a cost from one moment on, and before another. */
export function holeFor({ holes }: LedgerState, from: number, before: number, cost: Cost): Hole | undefined {
  return holes.find(({ moment, cost: own }) => moment >= from && moment < before && sameCost(own, cost));
}

/** Lets requests take a hole over. */
export function fillHole(ledger: LedgerState, hole: Hole, count: number): void {
  hole.count -= count;
  if (hole.count === 0) ledger.holes.splice(ledger.holes.indexOf(hole), 1);
}

/** Gives one reservation of a hole back, in exchange for a moment before it. */
export function bringForward(ledger: LedgerState, hole: Hole, now: number): void {
  const { moment, cost } = hole;
  fillHole(ledger, hole, 1);
  giveHoleBack(ledger, { moment, cost, count: 1 }, now);
}

/** Gives the reservations of a hole back to the limits. */
function giveHoleBack({ limits }: LedgerState, { moment, cost, count }: Hole, now: number): void {
  cost.forEach((n, i) => {
    if (n > 0) algebraOf(limits[i]).refund(limits[i], now, moment, n * count);
  });
}

/** Gives the holes back whose moment has come by `until`, and that no request has taken over. */
export function closeHoles(ledger: LedgerState, now: number, until: number): void {
  while (ledger.holes.length > 0 && ledger.holes[0].moment <= until)
    giveHoleBack(ledger, ledger.holes.shift()!, now);
}

/** Gives the holes back that the end of the line has come to: nothing stands behind them. */
export function closeEnd(ledger: LedgerState, now: number): void {
  const { holes } = ledger;
  for (
    let last = holes.at(-1);
    last && last.moment >= newestOf(ledger, last.cost, false);
    last = holes.at(-1)
  )
    giveHoleBack(ledger, holes.pop()!, now);
}
