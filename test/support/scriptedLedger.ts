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

/** A ledger whose replies the test sends. */
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

/**
 * A reply with one delay in milliseconds for each run, or one for all. Without one, requests with reservations get no earlier
 * ones.
 */
export function replyTo(
  request: ReserveRequest,
  delays: readonly number[] | number,
  more?: Partial<ReserveReply>,
): ReserveReply {
  const delayOf = (run: number) =>
    typeof delays === 'number' ? delays : (delays[run] ?? (request.earlier ? outcome.queued : Number.NaN));
  const segments = request.runs.map(({ count }, i) => ({ count, delay: delayOf(i), retryAfter: 0 }));
  return { now: Date.now(), epoch: 1, contenders: 1, segments, ...more };
}

/**
 * The reply of a store that cannot reserve: all requests stay queued, and `retryAfter` is the time of the next call.
 */
export function later(request: ReserveRequest, retryAfter: number): ReserveReply {
  return replyTo(request, outcome.queued, { retryAfter });
}
