import { mostRefundCalls } from '../../src/stores/redis/redisLedger.ts';
import type { Ledger, Reply, ReserveReply } from '../../src/stores/store.ts';
import type { VirtualTime } from './virtualTime.ts';

/** The traffic on the wires of a fleet. */
export interface Load {
  /** Reserve calls, the heartbeats among them, and refund calls. */
  reserves: number;
  heartbeats: number;
  refunds: number;
  /** The longest delay of a reservation in a reply: milliseconds. */
  longest: number;
}

/** A connection to the store. */
export interface Wire {
  time: VirtualTime;
  /** Milliseconds of a round trip, and the part by which a trip may be longer. */
  roundTrip: number;
  jitter: number;
  random: () => number;
  load: Load;
  /** Whether the process at this end is still alive. */
  alive(): boolean;
}

/** Puts a wire before a synchronous ledger. As on a connection, no message overtakes an earlier one. */
export function wired(ledger: Ledger, wire: Wire): Ledger {
  const { time, roundTrip, jitter, random, load } = wire;
  let arrived = 0;
  let answered = 0;
  const trip = () => (roundTrip / 2) * (1 + jitter * random());

  function over<T>(work: (reply: Reply<T>) => void, reply: Reply<T>): void {
    arrived = Math.max(arrived, time.now() + trip());
    time.after(arrived - time.now(), () =>
      work((...answer) => {
        answered = Math.max(answered, time.now() + trip());
        time.after(answered - time.now(), () => {
          if (wire.alive()) reply(...answer);
        });
      }),
    );
  }

  return {
    sync: false,
    mostRefundCalls,
    source: ledger.source,
    limits: ledger.limits,
    reserve(request, reply) {
      load.reserves++;
      if (request.runs.length === 0 || request.earlier) load.heartbeats++;
      over<ReserveReply>(
        (answer) => ledger.reserve(request, answer),
        (error, answer) => {
          for (const { delay } of answer?.segments ?? []) load.longest = Math.max(load.longest, delay);
          if (answer) reply(null, answer);
          else reply(error!);
        },
      );
    },
    refund(refunds, sequence, reply) {
      load.refunds++;
      over((answer) => ledger.refund(refunds, sequence, answer), reply);
    },
    decide: (cost, reply) => over((answer) => ledger.decide(cost, answer), reply),
    peek: (reply) => over((answer) => ledger.peek(answer), reply),
  };
}
