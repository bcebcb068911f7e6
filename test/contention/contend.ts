import type { Clock } from '../../src/clock.ts';
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { Request } from '../../src/dispatcher/request.ts';
import { type Cost, sameCost } from '../../src/limits/cost.ts';
import type { Limit } from '../../src/limits/limit.ts';
import type { Grant, Waiter } from '../../src/port/line.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Ledger, Refund, ReserveRequest } from '../../src/stores/store.ts';
import { VirtualTime } from '../../tools/simulate/virtualTime.ts';
import { type Load, wired } from '../../tools/simulate/wire.ts';
import { limitNames } from '../support/limitNames.ts';
import { randomFrom } from '../support/seed.mjs';

/** How one client treats its requests. Parts and chances are between 0 and 1, times in milliseconds. */
export interface Habits {
  /** The number of requests that it keeps in its queue. */
  waiting: number;
  /** The costs of its requests, chosen at random. */
  costs: readonly Cost[];
  /** The chance that a request is cancelled, within a random time of at most `cancelWithin`. */
  cancel: number;
  cancelWithin: number;
  /** The chance that a granted request is refunded, within a random time of at most `refundWithin`. */
  refund: number;
  refundWithin: number;
  /** The refunded part of its permits. */
  part: number;
  /** The chance that the other granted requests use as many permits again as they cost, which is known as late: 0 by default. */
  excess?: number;
  /** Its event loop is blocked for the last `blocked` of every `period` milliseconds: never by default. */
  blocked?: number;
  period?: number;
  /** Milliseconds to the store and back, unless they are those of all. */
  roundTrip?: number;
}

/** Keeps one request of one permit in its queue, and all of its permits. */
export const waits: Habits = {
  ...{ waiting: 1, costs: [[1]], cancel: 0, cancelWithin: 1, refund: 0, refundWithin: 5, part: 1 },
};

/** So many clients, of which every second one has these habits, and the others keep what they take. */
export function half(habits: Habits, clients: number): Habits[] {
  return Array.from({ length: clients }, (_, i) => (i % 2 === 0 ? waits : habits));
}

/** So many clients with these habits, of which each has requests of the next of the sizes, and queues so many permits. */
export function bySize(
  habits: Partial<Habits>,
  sizes: readonly number[],
  clients: number,
  queued: number,
): Habits[] {
  return Array.from({ length: clients }, (_, i) => {
    const size = sizes[i % sizes.length];
    return { ...waits, ...habits, waiting: queued / size, costs: [[size]] };
  });
}

/** Clients that share one limit in virtual time, each with its own queue and connection. */
export interface Contention {
  limits: readonly Limit[];
  clients: readonly Habits[];
  /** Milliseconds to the store and back. */
  roundTrip: number;
  /** The part of a round trip by which it may be longer: none by default. */
  jitter?: number;
  /** Milliseconds before the measurement, and of the measurement. */
  warmUp: number;
  span: number;
  /**
   * Milliseconds in which the measurement fades in and out: an interval of windows, as these grant in bursts. Otherwise it would
   * matter how many bursts it includes. 0 by default.
   */
  fade?: number;
  seed: number;
}

/** The result of a contention. */
export interface Outcome {
  /** Kept permits of each limit, by client: granted in the measured span and not refunded. */
  kept: number[][];
  /** The granted permits of the measured span, refunded ones too, of all clients: of each limit. */
  taken: number[];
  /** Every kept permit: its moment and cost. */
  standing: { moment: number; cost: Cost }[];
  /** The longest wait of a request that was granted. */
  longest: number;
  granted: number;
  calls: number;
}

/** Which part of a permit that was granted at a moment of the contention counts in the measurement. */
export function counted({ warmUp, span, fade = 0 }: Contention, moment: number): number {
  const from = moment - warmUp;
  if (fade === 0) return from > 0 && from <= span ? 1 : 0;
  return Math.max(0, Math.min(1, from / fade, (span + fade - from) / fade));
}

/** The calls of a ledger whose replies are read when the event loop is not blocked. */
function answeredWhen(awake: (work: () => void) => void, ledger: Ledger): Pick<Ledger, 'reserve' | 'refund'> {
  return {
    reserve: (request, reply) => ledger.reserve(request, (...answer) => awake(() => reply(...answer))),
    refund: (refunds, sequence, reply) =>
      ledger.refund(refunds, sequence, (...answer) => awake(() => reply(...answer))),
  };
}

/** A call that arrives at the store in a contention: with the store's time in microseconds, by which its moments and epochs are. */
export type ContendedCall = { client: number; serverUs: number } & (
  | { kind: 'reserve'; request: ReserveRequest }
  | { kind: 'refund'; refunds: readonly Refund[]; sequence: number }
);

/** The calls of a ledger, which are reported. */
function reported(
  ledger: Ledger,
  client: number,
  time: VirtualTime,
  onCall: (call: ContendedCall) => void,
): Ledger {
  const { sync, source, limits } = ledger;
  const serverUs = () => Math.floor((time.origin + time.now()) * 1000);
  return {
    ...{ sync, source, limits },
    reserve(request, reply) {
      // Without the requests of the dispatcher, which change.
      const runs = request.runs.map(({ count, cost, maxWait }) => ({ count, cost, maxWait }));
      onCall({ kind: 'reserve', client, serverUs: serverUs(), request: { ...request, runs } });
      ledger.reserve(request, reply);
    },
    refund(refunds, sequence, reply) {
      onCall({ kind: 'refund', client, serverUs: serverUs(), refunds, sequence });
      ledger.refund(refunds, sequence, reply);
    },
    decide: (cost, reply, last) => ledger.decide(cost, reply, last),
    peek: (reply) => ledger.peek(reply),
  };
}

/**
 * Lets the clients contend. Each makes a new request whenever one of its requests ends. `onCall` is called with each call when it
 * arrives at the store.
 */
export function contend(contention: Contention, onCall?: (call: ContendedCall) => void): Outcome {
  const { limits, clients, roundTrip, jitter = 0, warmUp, span, fade = 0, seed } = contention;
  const time = new VirtualTime();
  // As those of Node, timers count whole milliseconds: at least one, and no fraction.
  const after: Clock['after'] = (ms, work) => time.after(Math.max(1, Math.trunc(ms)), work);
  const clock: Clock = {
    origin: time.origin,
    now: () => time.now(),
    after: (ms, work) => after(Math.ceil(ms), work),
  };
  const load: Load = { reserves: 0, heartbeats: 0, refunds: 0, longest: 0 };
  const random = randomFrom(seed);
  const store = memoryStore();
  const names = limitNames(limits);
  const standing: { client: number; grant: Grant; cost: number[] }[] = [];
  let longest = 0;

  const lines = clients.map((habits, client) => {
    const config = { name: 'n', prefix: 'p', clientId: `client ${client}`, names, limits, clock };
    const wire = { time, roundTrip: habits.roundTrip ?? roundTrip, jitter, random, load, alive: () => true };
    const opened = store.open(config);
    const ledger = wired(onCall ? reported(opened, client, time, onCall) : opened, wire);
    const named = { record: limits.length > 1, names, limits };
    const { blocked = 0, period = Infinity } = habits;
    /** Runs work now, or after the event loop's blockage. */
    const awake = (work: () => void) => {
      const left = period - (time.now() % period);
      if (left > blocked) work();
      else time.after(left, work);
    };
    const line = new Dispatcher({
      name: 'n',
      named,
      ledger: blocked > 0 ? { ...ledger, ...answeredWhen(awake, ledger) } : ledger,
      clock: blocked > 0 ? { ...clock, after: (ms, work) => clock.after(ms, () => awake(work)) } : clock,
      maxQueue: Infinity,
    });

    function ask(): void {
      let entry: Request | undefined;
      let ended = false;
      const asked = time.now();
      const waiter: Waiter<undefined> = {
        granted(grant) {
          ended = true;
          longest = Math.max(longest, time.now() - asked);
          keep(grant);
          ask();
        },
        denied: ask,
        failed: () => {},
      };
      const cost = habits.costs[Math.floor(random() * habits.costs.length)];
      if (random() < habits.cancel)
        after(random() * habits.cancelWithin, () => {
          if (ended || !entry) return;
          ended = true;
          line.cancel(entry);
          ask();
        });
      entry = line.ask(waiter, cost, Infinity, undefined);
    }

    function keep(grant: Grant): void {
      const kept = { client, grant, cost: [...grant.cost] };
      standing.push(kept);
      if (random() >= habits.refund) {
        if (habits.excess === undefined || random() >= habits.excess) return;
        kept.cost = kept.cost.map((n) => 2 * n);
        after(random() * habits.refundWithin, () => line.charge(grant, () => {}));
        return;
      }
      after(random() * habits.refundWithin, () => {
        const cost = grant.cost.map((n) => Math.ceil(n * habits.part));
        kept.cost = kept.cost.map((n, i) => n - cost[i]);
        line.refund({ ...grant, cost }, undefined, sameCost(cost, grant.cost));
      });
    }

    for (let i = 0; i < habits.waiting; i++) after(random() * roundTrip, ask);
    return line;
  });

  time.runUntil(warmUp + span + fade);
  const kept = clients.map(() => limits.map(() => 0));
  const taken = limits.map(() => 0);
  for (const { client, grant, cost } of standing) {
    const part = counted(contention, grant.moment - time.origin);
    cost.forEach((n, i) => {
      kept[client][i] += part * n;
      taken[i] += part * grant.cost[i];
    });
  }
  const calls = lines.reduce((sum, { stats }) => sum + stats.calls, 0);
  const moments = standing.map(({ grant, cost }) => ({ moment: grant.moment, cost }));
  return { kept, taken, standing: moments, longest, granted: standing.length, calls };
}
