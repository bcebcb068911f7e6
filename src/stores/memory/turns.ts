import type { LedgerState } from './ledgerState.ts';

/** Clients take turns until so many milliseconds after reservations moved up, or after the last refund since then. */
const turnsPeriod = 3000;
/** The most milliseconds between two calls of a client that takes turns. */
export const mostTurn = 1000;
/** The same for each contender, if permits are plentiful. */
const leastTurn = 100;
/** The second half of that time is divided into so many parts, a prime number. */
const parts = 499;
/** Characters of a client's name that count for the part. */
const mixedIn = 64;

/**
 * Whether permits have been refunded lately to windows whose reservations were far ahead. Contenders then take turns: they
 * reserve nothing beyond the notice period, and each call is granted its client's part of the permits that are free.
 * Otherwise a client that keeps refunding, and calls for that, would be granted most of what it refunds. The twin of
 * `lua/ledger/turns.lua`.
 */
export function takeTurns({ movedAt, limits }: LedgerState, now: number): boolean {
  return movedAt > 0 && now < movedAt + turnsPeriod && limits.some(({ kind }) => kind !== 'tokenBucket');
}

/**
 * When a client that takes turns with its contenders is to call again: `free` requests could be granted at its call. If they
 * were not enough for all contenders, permits come back so slowly that more calls would find none.
 */
export function nextTurn(now: number, contenders: number, free: number, client: string): number {
  const longest = free < contenders ? mostTurn : Math.min(mostTurn, leastTurn * contenders);
  // Different for each moment, call and client, so that no client always calls just after another one.
  let mixed = now * 37 + free * 13;
  for (const character of client.slice(-mixedIn)) mixed += character.charCodeAt(0);
  return now + Math.ceil((longest * (1 + (mixed % parts) / parts)) / 2);
}
