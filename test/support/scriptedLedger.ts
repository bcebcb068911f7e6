import type { Limit } from '../../src/limits/limit.ts';
import {
  type Ledger,
  outcome,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type ReserveRequest,
} from '../../src/stores/store.ts';

/** A ledger that answers when the test says so, and what it says. */
export interface ScriptedLedger extends Ledger {
  readonly reserves: { request: ReserveRequest; reply: Reply<ReserveReply> }[];
  readonly refunds: { refunds: readonly Refund[]; sequence: number; reply: Reply<RefundReply> }[];
}

export function scriptedLedger(limit: Limit): ScriptedLedger {
  const ledger: ScriptedLedger = {
    sync: false,
    source: 'memory',
    limits: [limit],
    reserves: [],
    refunds: [],
    reserve: (request, reply) => ledger.reserves.push({ request, reply }),
    refund: (refunds, sequence, reply) => ledger.refunds.push({ refunds, sequence, reply }),
    decide: () => undefined,
    peek: () => undefined,
  };
  return ledger;
}

/** A reply that has a delay for each run as a whole, in milliseconds. */
export function booked(
  request: ReserveRequest,
  delays: readonly number[],
  more?: Partial<ReserveReply>,
): ReserveReply {
  const segments = request.runs.map(({ count }, i) => ({ count, delay: delays[i], retryAfter: 0 }));
  return { now: Date.now(), epoch: 1, contenders: 1, segments, ...more };
}

/** The reply of a store that cannot book: when to ask again, and nothing else. */
export function later(request: ReserveRequest, retryAfter: number): ReserveReply {
  return booked(
    request,
    request.runs.map(() => outcome.queued),
    { retryAfter },
  );
}
