import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Ledger, Store } from '../../src/stores/store.ts';
import { limitOf } from './specs.ts';
import type { History } from './steps.ts';
import { type Call, type CallReply, createWorld, plan, settle, type World } from './world.ts';

/** A world, and the ledgers of its clients. */
export interface Fleet {
  world: World;
  /** Performs a call at its server's time, and notes in the world what it granted. */
  call(call: Call): CallReply;
}

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

  return {
    world,
    call(call) {
      serverUs = call.serverUs;
      const reply = ask(ledgerOf(call.client), call);
      settle(world, call, reply);
      return reply;
    },
  };
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

/** The answer of a ledger that answers before the call returns. */
function ask(ledger: Ledger, call: Call): CallReply {
  let answer: { error: Error | null; reply?: unknown } | undefined;
  const reply = (error: Error | null, reply?: unknown) => {
    answer = { error, reply };
  };
  if (call.kind === 'peek') ledger.peek(reply);
  else if (call.kind === 'decide') ledger.decide(call.cost, reply);
  else if (call.kind === 'refund') ledger.refund(call.refunds, call.sequence, reply);
  else ledger.reserve(call.request, reply);
  if (!answer) throw new Error('the store did not answer at once');
  if (answer.error) throw answer.error;
  return answer.reply as CallReply;
}
