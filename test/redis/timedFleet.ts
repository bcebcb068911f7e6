import { debt, newestGrants, type RefundReply, type ReserveReply } from '../../src/stores/store.ts';
import type { Call, CallReply } from '../properties/calls.ts';
import type { LimitSpec } from '../properties/specs.ts';
import type { Outcome } from './memoryTwin.ts';
import type { Config } from './twins.ts';

/** Any time of a server, in milliseconds: times of a test are counted from it. */
const start = 1_700_000_000_000;

type Twin = (config: Config, call: Call) => Outcome | Promise<Outcome>;

interface Asked {
  count?: number;
  /** Of each request. */
  permits?: number;
  maxWait?: number;
  held?: number;
  epoch?: number;
  horizon?: number;
  /** The last moment that the client holds. */
  last?: { moment: number; epoch: number };
}

/** Clients of one limit, by their numbers, each call at a time of the test's: the memory's, or those of Redis. */
export interface TimedFleet {
  reserve(at: number, client: number, asked?: Asked): Promise<ReserveReply>;
  /** The client's line has emptied. */
  finish(at: number, client: number): Promise<void>;
  /** Says whether that gave anything back. */
  refund(
    at: number,
    client: number,
    given: { moment: number; epoch: number; count: number },
    sequence?: number,
  ): Promise<boolean>;
  /** Permits were used that nobody had granted. */
  owe(at: number, client: number, permits: number): Promise<void>;
  release(at: number, client: number, permits: number, sequence?: number): Promise<void>;
  setRate(at: number, client: number, limit: LimitSpec): Promise<void>;
  pause(at: number, client: number, ms: number): Promise<void>;
  forget(at: number, client: number): Promise<void>;
  peek(at: number): Promise<number[]>;
  /** Until when the ledger is kept, if nothing more comes. */
  keptUntil(at: number): Promise<number>;
}

export function fleetOf(twin: Twin, config: Config): TimedFleet {
  type Wanted = Call extends infer One
    ? One extends Call
      ? Omit<One, 'client' | 'serverUs'>
      : never
    : never;
  const outcomeOf = (at: number, client: number, wanted: Wanted): Outcome | Promise<Outcome> =>
    twin(config, { ...wanted, client, serverUs: (start + at) * 1000 } as Call);
  const ask = async (at: number, client: number, wanted: Wanted): Promise<CallReply> =>
    (await outcomeOf(at, client, wanted)).reply;
  const reserve: TimedFleet['reserve'] = async (
    at,
    client,
    { count = 1, permits = 1, maxWait = Infinity, held = 0, epoch = 0, horizon = 1e9, last } = {},
  ) => {
    const runs = count > 0 ? [{ count, cost: [permits], maxWait }] : [];
    const reply = (await ask(at, client, {
      kind: 'reserve',
      request: {
        runs,
        horizon,
        held,
        epoch,
        ...(last && { last: { ...last, moment: start + last.moment } }),
      },
    })) as ReserveReply;
    return { ...reply, now: reply.now - start };
  };
  return {
    reserve,
    async finish(at, client) {
      await reserve(at, client, { count: 0 });
    },
    async refund(at, client, { moment, epoch, count }, sequence = 1) {
      const refunds = [{ moment: start + moment, epoch, source: 'memory' as const, cost: [1], count }];
      const reply = (await ask(at, client, { kind: 'refund', refunds, sequence })) as RefundReply;
      return reply.restored?.[0] ?? false;
    },
    async owe(at, client, permits) {
      const refunds = [{ moment: debt, epoch: 0, source: 'memory' as const, cost: [1], count: permits }];
      await ask(at, client, { kind: 'refund', refunds, sequence: 1 });
    },
    async release(at, client, permits, sequence = 1) {
      const refunds = [
        { moment: newestGrants, epoch: 0, source: 'memory' as const, cost: [permits], count: 1 },
      ];
      await ask(at, client, { kind: 'refund', refunds, sequence });
    },
    async setRate(at, client, limit) {
      const change = { limits: [limit], ifAbsent: false, keepState: true };
      await ask(at, client, { kind: 'setRate', change });
    },
    async pause(at, client, ms) {
      await ask(at, client, { kind: 'pause', ms });
    },
    async forget(at, client) {
      await ask(at, client, { kind: 'forget', rate: false });
    },
    async peek(at) {
      return (await ask(at, 99, { kind: 'peek' })) as number[];
    },
    async keptUntil(at) {
      return (await outcomeOf(at, 99, { kind: 'peek' })).state!.expires - start;
    },
  };
}

/** The moments that a reply has granted and booked, by the time of the test, one for each request. */
export function moments({ now, segments }: ReserveReply): number[] {
  return segments.flatMap(({ count, delay }) =>
    Array.from({ length: delay < 0 ? 0 : count }, () => Math.round(now + delay)),
  );
}
