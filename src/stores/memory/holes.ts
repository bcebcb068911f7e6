import { type Cost, sameCost } from '../../limits/cost.ts';
import { algebraOf } from '../../limits/states.ts';
import { small } from '../../small.ts';
import type { Hole, LedgerState } from './ledgerState.ts';
import { newestOf } from './offer.ts';
import { noteCancelled, noteFreed } from './pace.ts';

/** The most holes that are remembered, as every call that waits looks through them. */
const mostHoles = 32;

/**
 * Remembers a refunded reservation as a hole: it stays charged until requests that fit into it take it over.
 * Returns false if there are too many. The twin of `lua/ledger/add-hole.lua`.
 * `lua/ledger/holes.lua` has what every call needs of this file, and `lua/reserve/holes.lua` what only a reserve does.
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

/** The earliest hole from `from` on and before `before` that a request of this cost fits into. */
export function holeFor({ holes }: LedgerState, from: number, before: number, cost: Cost): Hole | undefined {
  return holes.find(({ moment, cost: own }) => moment >= from && moment < before && fits(cost, own));
}

function fits(cost: Cost, into: Cost): boolean {
  return cost.every((n, i) => n <= into[i]);
}

/** The number of requests of this cost that a hole has room for: in one of its reservations, if these are larger. */
export function roomIn(hole: Hole, cost: Cost): number {
  if (sameCost(hole.cost, cost)) return hole.count;
  return Math.min(...cost.map((n, i) => (n > 0 ? Math.floor(hole.cost[i] / n) : Infinity)));
}

/** Lets `count` requests of this cost take over a hole. Of a larger reservation, the rest stays a hole. */
export function fillHole(ledger: LedgerState, hole: Hole, cost: Cost, count: number, now: number): void {
  const isSame = sameCost(hole.cost, cost);
  hole.count -= isSame ? count : 1;
  if (hole.count === 0) ledger.holes = ledger.holes.filter((other) => other !== hole);
  if (isSame) return;
  const rest = hole.cost.map((n, i) => n - cost[i] * count);
  const { moment } = hole;
  if (rest.some((n) => n > 0) && !addHole(ledger, moment, rest, 1))
    giveHoleBack(ledger, { moment, cost: rest, count: 1 }, now);
}

/** Refunds a part of a hole, whose permits are granted to a request of this cost at an earlier moment instead. */
export function bringForward(ledger: LedgerState, hole: Hole, cost: Cost, now: number): void {
  fillHole(ledger, hole, cost, 1, now);
  giveHoleBack(ledger, { moment: hole.moment, cost, count: 1 }, now);
}

/** Refunds the reservations of a hole in every limit. */
function giveHoleBack(ledger: LedgerState, { moment, cost, count }: Hole, now: number): void {
  const { limits, pacedUntil } = ledger;
  if (now < pacedUntil) noteCancelled(ledger, now, cost, count);
  cost.forEach((n, i) => {
    if (n > 0) algebraOf(limits[i]).refund(limits[i], now, moment, small(n * count));
  });
}

/** Refunds the holes whose moment has come and that no request has taken over: reservations may move up for them. */
export function closeHoles(ledger: LedgerState, now: number, until: number): void {
  while (ledger.holes.length > 0 && ledger.holes[0].moment <= until) {
    const [due, ...rest] = ledger.holes;
    ledger.holes = rest;
    giveHoleBack(ledger, due, now);
    noteFreed(ledger, due.cost, due.count);
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
