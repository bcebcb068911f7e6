import { type Cost, leastShare } from '../limits/cost.ts';
import { capacityOf, type Limit } from '../limits/limit.ts';
import type { DecideReply } from '../stores/store.ts';
import type { Decision } from './results.ts';

/** Converts the reply to a decide call under these limits. */
export function decisionOf(
  limits: readonly Limit[],
  cost: Cost,
  { granted, available, retryAfter, resetAfter, limiting }: DecideReply,
): Decision {
  const shown = limiting ?? leastShare(limits, available, cost);
  return {
    granted,
    limit: capacityOf(limits[shown]),
    remaining: available[shown],
    retryAfter: Math.ceil(retryAfter),
    resetAfter: Math.ceil(resetAfter),
  };
}
