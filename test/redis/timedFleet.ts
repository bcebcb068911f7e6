import {
  type DecideReply,
  debt,
  newestGrants,
  type RefundReply,
  type ReserveReply,
} from '../../src/stores/store.ts';
import type { Call, CallReply } from '../properties/calls.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import type { Outcome } from './memoryTwin.ts';
import type { Config } from './twins.ts';

/** The server's time, in ms, from which the times of a test are counted. */
const start = 1_700_000_000_000;

type Twin = (config: Config, call: Call) => Outcome | Promise<Outcome>;

interface ReserveOptions {
  count?: number;
  /** The permits of each request, of each limit. */
  permits?: number;
  /** The same of each limit by itself. */
  cost?: readonly number[];
  maxWait?: number;
  /** Further requests of one permit that may not wait. */
  hasty?: number;
  held?: number;
  epoch?: number;
  horizon?: number;
  /** The client's last reservation. */
  last?: { moment: number; epoch: number };
  /** Asks for earlier moments for requests that have reservations. */
  earlier?: boolean;
}

/** Numbered clients of one limiter, in memory or Redis. The test sets the time of each call. */
export interface TimedFleet {
  reserve(at: number, client: number, asked?: ReserveOptions): Promise<ReserveReply>;
  /** The client has no more waiting requests. */
  finish(at: number, client: number): Promise<void>;
  /** Returns whether the refund restored permits. */
  refund(
    at: number,
    client: number,
    given: { moment: number; epoch: number; count: number; permits?: number },
    sequence?: number,
  ): Promise<boolean>;
  /** Takes a permit if one is free now, and returns whether it did. */
  decide(at: number, client: number, cost?: readonly number[]): Promise<boolean>;
  /** Charges permits used beyond the granted ones: of the first limit alone, if `ofFirst`. */
  owe(at: number, client: number, permits: number, sequence?: number, ofFirst?: boolean): Promise<void>;
  release(at: number, client: number, permits: number, sequence?: number): Promise<void>;
  setRate(at: number, client: number, limit: LimitSpec | LimitSpec[], keepState?: boolean): Promise<void>;
  pause(at: number, client: number, ms: number): Promise<void>;
  forget(at: number, client: number, rate?: boolean): Promise<void>;
  peek(at: number): Promise<number[]>;
  /** The same clients, with another limit of their own. */
  under(spec: LimitSpec): TimedFleet;
  /** The time when the ledger expires without further calls. */
  keptUntil(at: number): Promise<number>;
}

export function fleetOf(twin: Twin, config: Config): TimedFleet {
  type CallContent = Call extends infer One
    ? One extends Call
      ? Omit<One, 'client' | 'serverUs'>
      : never
    : never;
  const outcomeOf = (at: number, client: number, wanted: CallContent): Outcome | Promise<Outcome> =>
    twin(config, { ...wanted, client, serverUs: (start + at) * 1000 } as Call);
  const replyTo = async (at: number, client: number, wanted: CallContent): Promise<CallReply> =>
    (await outcomeOf(at, client, wanted)).reply;
  const costOf = (permits: number) => config.names.map(() => permits);
  const reserve: TimedFleet['reserve'] = async (
    at,
    client,
    {
      count = 1,
      permits = 1,
      cost = costOf(permits),
      maxWait = Infinity,
      hasty = 0,
      held = 0,
      epoch = 0,
      horizon = 1e9,
      last,
      earlier = false,
    } = {},
  ) => {
    const runs = [
      { count, cost, maxWait },
      { count: hasty, cost: costOf(1), maxWait: 0 },
    ].filter(({ count }) => count > 0);
    const reply = (await replyTo(at, client, {
      kind: 'reserve',
      request: {
        runs,
        horizon,
        held,
        epoch,
        ...(last && { last: { ...last, moment: start + last.moment } }),
        ...(earlier && { earlier }),
      },
    })) as ReserveReply;
    return { ...reply, now: reply.now - start };
  };
  return {
    reserve,
    async finish(at, client) {
      await reserve(at, client, { count: 0 });
    },
    async refund(at, client, { moment, epoch, count, permits = 1 }, sequence = 1) {
      const cost = costOf(permits);
      const refunds = [{ moment: start + moment, epoch, source: 'memory' as const, cost, count }];
      const reply = (await replyTo(at, client, { kind: 'refund', refunds, sequence })) as RefundReply;
      return reply.restored?.[0] ?? false;
    },
    async decide(at, client, cost = [1]) {
      return ((await replyTo(at, client, { kind: 'decide', cost })) as DecideReply).granted;
    },
    async owe(at, client, permits, sequence = 1, ofFirst = false) {
      const cost = config.names.map((_, i) => (ofFirst && i > 0 ? 0 : 1));
      const refunds = [{ moment: debt, epoch: 0, source: 'memory' as const, cost, count: permits }];
      await replyTo(at, client, { kind: 'refund', refunds, sequence });
    },
    async release(at, client, permits, sequence = 1) {
      const refunds = [
        { moment: newestGrants, epoch: 0, source: 'memory' as const, cost: [permits], count: 1 },
      ];
      await replyTo(at, client, { kind: 'refund', refunds, sequence });
    },
    async setRate(at, client, limit, keepState = true) {
      const change = { limits: [limit].flat(), ifAbsent: false, keepState };
      await replyTo(at, client, { kind: 'setRate', change });
    },
    async pause(at, client, ms) {
      await replyTo(at, client, { kind: 'pause', ms });
    },
    async forget(at, client, rate = false) {
      await replyTo(at, client, { kind: 'forget', rate });
    },
    async peek(at) {
      return (await replyTo(at, 99, { kind: 'peek' })) as number[];
    },
    under: (spec) => fleetOf(twin, { ...config, limits: [limitOf(spec)] }),
    async keptUntil(at) {
      return (await outcomeOf(at, 99, { kind: 'peek' })).state!.expires - start;
    },
  };
}

/** The moments of a reply's grants and reservations, one for each request, by the test's time. */
export function moments({ now, segments }: ReserveReply): number[] {
  return segments.flatMap(({ count, delay }) =>
    Array.from({ length: delay < 0 ? 0 : count }, () => Math.round(now + delay)),
  );
}
