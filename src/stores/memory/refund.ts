import { algebraOf } from '../../limits/states.ts';
import type { Refund } from '../store.ts';
import type { Instant, LedgerState } from './ledgerState.ts';

/** Takes grants and reservations back, once for each sequence of a client: says whether it did. The twin of `lua/refund.lua`. */
export function refund(
  ledger: LedgerState,
  { now }: Instant,
  client: string,
  refunds: readonly Refund[],
  sequence: number,
): boolean {
  const known = ledger.sequences.get(client);
  if (known && known.until > now && sequence <= known.last) return false;
  for (const { moment, epoch, cost, count } of refunds) {
    // What was granted before the epoch changed is counted in another way now, or not at all.
    if (epoch !== ledger.epoch) continue;
    for (let i = 0; i < cost.length; i++)
      if (cost[i] > 0)
        algebraOf(ledger.limits[i]).refund(ledger.limits[i], now, moment + ledger.shift, cost[i] * count);
  }
  return true;
}

/** Remembers the sequence for as long as a refund that is sent again could still change anything. */
export function rememberSequence(
  ledger: LedgerState,
  { now }: Instant,
  client: string,
  sequence: number,
): void {
  for (const [name, { until }] of ledger.sequences) if (until <= now) ledger.sequences.delete(name);
  ledger.sequences.set(client, { last: sequence, until: ledger.expires });
}
