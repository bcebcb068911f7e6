import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { DecideReply, Ledger, Reply, ReserveReply, Store } from '../../src/stores/store.ts';
import type { History } from './history.ts';
import { limitOf } from './specs.ts';
import { type Call, createWorld, plan, settleDecide, settleReserve, type World } from './world.ts';

/** Something a ledger can be asked at a time of the history's own: one process of the fleet. */
export interface Fleet {
  world: World;
  /** Performs a call at its server's time, and notes in the world what it granted. */
  call(call: Call): CallReply;
}

export type CallReply = ReserveReply | DecideReply | number[] | undefined;

/** The clients of a history, each with its own ledger on one store, under a clock that the history moves. */
export function openFleet(history: History, store: Store = memoryStore()): Fleet {
  const world = createWorld(history);
  const limits = history.limits.map(limitOf);
  const names = limits.length === 1 ? [''] : limits.map((_, i) => `limit ${i}`);
  let serverUs = history.startUs;
  const clock = { origin: 0, now: () => serverUs / 1000, after: () => () => {} };
  const ledgers = new Map<number, Ledger>();

  function ledgerOf(client: number): Ledger {
    const known = ledgers.get(client);
    if (known) return known;
    const opened = store.open({ name: 'n', prefix: 'p', clientId: `client ${client}`, names, limits, clock });
    ledgers.set(client, opened);
    return opened;
  }

  function call(call: Call): CallReply {
    serverUs = call.serverUs;
    const ledger = ledgerOf(call.client);
    if (call.kind === 'peek') return answer<number[]>((reply) => ledger.peek(reply));
    if (call.kind === 'refund')
      return answer<void>((reply) => ledger.refund(call.refunds, call.sequence, reply)) as undefined;
    if (call.kind === 'decide') {
      const decision = answer<DecideReply>((reply) => ledger.decide(call.cost, reply));
      settleDecide(world, call, decision);
      return decision;
    }
    const reserved = answer<ReserveReply>((reply) => ledger.reserve(call.request, reply));
    settleReserve(world, call, reserved);
    return reserved;
  }

  return { world, call };
}

/** Replays the history; `look` sees the world before each refund takes something from it, and at the end. */
export function replay(history: History, fleet: Fleet, look: (world: World) => void = () => {}): CallReply[] {
  const replies: CallReply[] = [];
  for (const step of history.steps) {
    // Until something is given back, what stands only grows: it is enough to look now and then.
    if (step.kind === 'refund' || step.kind === 'cancel') look(fleet.world);
    const call = plan(fleet.world, step);
    if (call) replies.push(fleet.call(call));
  }
  look(fleet.world);
  return replies;
}

/** The answer of a store that answers before the call returns. */
function answer<T>(ask: (reply: Reply<T>) => void): T {
  let result: { error: Error | null; value?: T } | undefined;
  ask((error, value) => {
    result = { error, value };
  });
  if (!result) throw new Error('the store did not answer at once');
  if (result.error) throw result.error;
  return result.value as T;
}
