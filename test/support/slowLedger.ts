import type { Ledger, Refund, Reply, ReserveRequest } from '../../src/stores/store.ts';

/** Milliseconds that a call takes to the store, and its answer back. */
export interface Trip {
  there: number;
  back: number;
}

/** A ledger at the end of a wire: what was sent over it, and how much of that is under way. */
export interface SlowLedger extends Ledger {
  /** How long the next call takes; may be changed at any time. */
  trip: Trip;
  readonly reserves: ReserveRequest[];
  readonly refunds: { refunds: readonly Refund[]; sequence: number }[];
  /** The most reserve calls, and the most refund calls, that were ever under way together. */
  readonly most: { reserve: number; refund: number };
}

/** Puts a wire between a limiter and a ledger that answers at once. Its time is that of `setTimeout`. */
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
