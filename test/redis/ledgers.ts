import type { Cluster, Redis } from 'ioredis';
import type { Limit } from '../../src/index.ts';
import type { Cost } from '../../src/limits/cost.ts';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { DecideReply, Ledger, Refund, RefundReply, ReserveReply } from '../../src/stores/store.ts';
import { openRedisLedger } from '../support/redisLedger.ts';

/** A ledger of named limits, with promises. */
export interface PromiseLedger {
  /** Makes so many requests of a cost, or of each of several. */
  reserve(
    cost: Cost | readonly Cost[],
    options?: { count?: number; maxWait?: number; held?: number },
  ): Promise<ReserveReply>;
  refund(refunds: readonly Refund[], sequence: number): Promise<RefundReply>;
  decide(cost: Cost): Promise<DecideReply>;
  peek(): Promise<number[]>;
}

export function ledgerOf(
  redis: Redis | Cluster,
  limits: Record<string, Limit>,
  { name = 'n', prefix = 'p', clientId = 'me', serverTime = undefined as (() => number) | undefined } = {},
): PromiseLedger {
  const config = { name, prefix, clientId, names: Object.keys(limits), limits: Object.values(limits) };
  const ledger = openRedisLedger(config, scriptsOf(redis), serverTime);
  return {
    reserve: (cost, { count = 1, maxWait = 0, held = 0 } = {}) =>
      answer((reply) => {
        const runs = costsOf(cost).map((cost) => ({ count, cost, maxWait }));
        ledger.reserve({ runs, horizon: 1e9, held, epoch: 0 }, reply);
      }),
    refund: (refunds, sequence) => answer((reply) => ledger.refund(refunds, sequence, reply)),
    decide: (cost) => answer((reply) => ledger.decide(cost, reply)),
    peek: () => answer((reply) => ledger.peek(reply)),
  };
}

/** Refunds of all grants and reservations of a reply, at one cost. */
export function refundsOf({ now, epoch, segments }: ReserveReply, cost: Cost): Refund[] {
  return segments
    .filter(({ delay }) => delay >= 0)
    .map(({ count, delay }) => ({ moment: Math.ceil(now + delay), epoch, source: 'redis', cost, count }));
}

function answer<T>(call: (reply: (error: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) =>
    call((error, value) => (error ? reject(error) : resolve(value as T))),
  );
}

export const operations: [keyof Ledger, (ledger: PromiseLedger) => Promise<unknown>][] = [
  ['reserve', (ledger) => ledger.reserve([1])],
  ['refund', (ledger) => ledger.refund([{ moment: 1, epoch: 1, source: 'redis', cost: [1], count: 1 }], 1)],
  ['decide', (ledger) => ledger.decide([1])],
  ['peek', (ledger) => ledger.peek()],
];

function costsOf(cost: Cost | readonly Cost[]): readonly Cost[] {
  return Array.isArray(cost[0]) ? (cost as readonly Cost[]) : [cost as Cost];
}
