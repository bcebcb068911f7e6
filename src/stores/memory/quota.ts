import type { Cost } from '../../limits/cost.ts';
import { loadOf } from '../../limits/load.ts';
import type { LedgerState } from './ledgerState.ts';
import { fitAll } from './offer.ts';
import { type Asked, grantedInTurn, type Taken } from './turns.ts';

/** What one call of a contender may be granted of the permits that are free. */
export interface Quota extends Taken, Asked {
  /** Whether the contenders take turns: see `takeTurns`. */
  takesTurns: boolean;
  /** Whether a call is granted only its client's part of the free permits: without refunds, the order of calls is fair. */
  sharesFree: boolean;
  /** Milliseconds of load that are left of it; undefined before the first request. */
  quota: number | undefined;
}

/**
 * How many requests of a cost the call may still be granted at once: its client's part of the permits that were free at its
 * first request, and at least that one. A client that refunds permits would otherwise take them all again with its next call,
 * before any other client calls. The twin of `lua/reserve/quota.lua`.
 */
export function quotaOf(ledger: LedgerState, now: number, cost: Cost, call: Quota): number {
  const load = loadOf(ledger, cost);
  const free = fitAll(ledger, now, now, cost, Infinity);
  if (call.quota === undefined) {
    call.free = free;
    call.quota = Math.max(load, (free * load) / call.contenders);
  }
  return call.takesTurns ? grantedInTurn(ledger, call, free, load) : Math.ceil(call.quota / load);
}

/** Counts requests that the call was granted of its quota. */
export function spend(ledger: LedgerState, cost: Cost, count: number, call: Quota): void {
  const load = loadOf(ledger, cost) * count;
  call.quota! -= load;
  call.taken += load;
}
