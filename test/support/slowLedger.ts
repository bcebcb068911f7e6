import { mostRefundCalls } from '../../src/stores/redis/redisLedger.ts';
import type { Ledger, Refund, Reply, ReserveRequest } from '../../src/stores/store.ts';

/** Milliseconds that a call takes to the store, and its reply takes back. */
export interface Trip {
  there: number;
  back: number;
}

/** A ledger behind a slow connection, with a record of its calls. */
export interface SlowLedger extends Ledger {
  /** The delay of the next call; may be changed at any time. */
  trip: Trip;
  readonly reserves: ReserveRequest[];
  readonly refunds: { refunds: readonly Refund[]; sequence: number }[];
  /** The most reserve calls and refund calls that were in flight together. */
  readonly most: { reserve: number; refund: number };
}

/** Delays the calls of a synchronous ledger by `setTimeout`. */
export function slowLedger(ledger: Ledger, trip: Trip): SlowLedger {
  const underWay = { reserve: 0, refund: 0 };

  function over<T>(work: (reply: Reply<T>) => void, reply: Reply<T>): void {
    const { there, back } = slow.trip;
    setTimeout(() => work((...answer) => setTimeout(() => reply(...answer), back)), there);
  }

  function counted<T>(kind: 'reserve' | 'refund', work: (reply: Reply<T>) => void, reply: Reply<T>): void {
    slow.most[kind] = Math.max(slow.most[kind], ++underWay[kind]);
    over(work, (...answer) => {
      underWay[kind]--;
      reply(...answer);
    });
  }

  const slow: SlowLedger = {
    sync: false,
    mostRefundCalls,
    source: ledger.source,
    limits: ledger.limits,
    trip,
    reserves: [],
    refunds: [],
    most: { reserve: 0, refund: 0 },
    reserve(request, reply) {
      slow.reserves.push(request);
      counted('reserve', (answer) => ledger.reserve(request, answer), reply);
    },
    refund(refunds, sequence, reply) {
      slow.refunds.push({ refunds, sequence });
      counted('refund', (answer) => ledger.refund(refunds, sequence, answer), reply);
    },
    decide: (cost, reply, last) => over((answer) => ledger.decide(cost, answer, last), reply),
    peek: (reply) => over((answer) => ledger.peek(answer), reply),
  };
  return slow;
}
