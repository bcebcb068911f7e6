import { type Cost, sameCost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import type { Hole, LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';

/** The most holes that are remembered, as every call that waits looks through them. */
const mostHoles = 32;

/**
 * Remembers a refunded reservation as a hole: it stays charged until the next request of the same cost takes
 * it over. Returns false if there are too many. The twin of `lua/ledger/holes.lua`.
 */
export function addHole(ledger: LedgerState, moment: number, cost: Cost, count: number): boolean {
  const { holes } = ledger;
  const index = holes.findIndex((hole) => hole.moment > moment);
  const place = index < 0 ? holes.length : index;
  const before = holes[place - 1];
  if (before?.moment === moment && sameCost(before.cost, cost)) before.count += count;
  else if (holes.length >= mostHoles) return false;
  else ledger.holes = [...holes.slice(0, place), { moment, cost, count }, ...holes.slice(place)];
  return true;
}

/** The earliest hole of this cost from `from` on and before `before`. */
export function holeFor({ holes }: LedgerState, from: number, before: number, cost: Cost): Hole | undefined {
  return holes.find(({ moment, cost: own }) => moment >= from && moment < before && sameCost(own, cost));
}

/** Lets `count` requests take over a hole. */
export function fillHole(ledger: LedgerState, hole: Hole, count: number): void {
  hole.count -= count;
  if (hole.count === 0) ledger.holes = ledger.holes.filter((other) => other !== hole);
}

/** Refunds one reservation of a hole, whose permits are granted at an earlier moment instead. */
export function bringForward(ledger: LedgerState, hole: Hole, now: number): void {
  const { moment, cost } = hole;
  fillHole(ledger, hole, 1);
  giveHoleBack(ledger, { moment, cost, count: 1 }, now);
}

/** Refunds the reservations of a hole in every limit. */
function giveHoleBack({ limits }: LedgerState, { moment, cost, count }: Hole, now: number): void {
  cost.forEach((n, i) => {
    if (n > 0) algebraOf(limits[i]).refund(limits[i], now, moment, n * count);
  });
}

/** Refunds the holes whose moment has come and that no request has taken over. */
export function closeHoles(ledger: LedgerState, now: number, until: number): void {
  while (ledger.holes.length > 0 && ledger.holes[0].moment <= until) {
    const [due, ...rest] = ledger.holes;
    ledger.holes = rest;
    giveHoleBack(ledger, due, now);
  }
}

/** Refunds the holes that no reservation follows any more. */
export function closeEnd(ledger: LedgerState, now: number): void {
  for (
    let last = ledger.holes.at(-1);
    last && last.moment >= newestOf(ledger, last.cost, false);
    last = ledger.holes.at(-1)
  ) {
    ledger.holes = ledger.holes.slice(0, -1);
    giveHoleBack(ledger, last, now);
  }
}
