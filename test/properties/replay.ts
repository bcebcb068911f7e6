import type { LedgerState } from '../../src/stores/memory/ledgerState.ts';
import type { MemoryLedger } from '../../src/stores/memory/memoryLedger.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { limitNames } from '../support/limitNames.ts';
import { type Call, type CallReply, callLedger } from './calls.ts';
import { plan, settle } from './plan.ts';
import { limitOf } from './specs.ts';
import { changedIn } from './steered.ts';
import type { History, Step } from './steps.ts';
import { createWorld, type World } from './world.ts';

/** A world, and the ledgers of its clients. */
export interface Fleet {
  world: World;
  /** Performs a call at its server's time, and applies the reply to the world. */
  call(call: Call): CallReply;
}

/** The clients of a history, each with its own ledger on one store. The history moves the clock. */
export function openFleet(history: History): Fleet {
  const store = memoryStore();
  const world = createWorld(history);
  const limits = history.limits.map(limitOf);
  const names = limitNames(limits);
  let serverUs = history.startUs;
  const clock = { origin: 0, now: () => serverUs / 1000, after: () => () => {} };
  const ledgers = new Map<number, MemoryLedger>();

  function ledgerOf(client: number): MemoryLedger {
    const known = ledgers.get(client);
    if (known) return known;
    const config = { name: 'n', prefix: 'p', clientId: `client ${client}`, names, limits, clock };
    const opened = store.open(config) as MemoryLedger;
    ledgers.set(client, opened);
    return opened;
  }

  return {
    world,
    call(call) {
      serverUs = call.serverUs;
      const ledger = ledgerOf(call.client);
      const reply = ask(ledger, call);
      settle(world, call, reply, changedIn(stateOf(ledger)));
      return reply;
    },
  };
}

/** A client that makes no step of a history. */
export const otherClient = 99;

/** The available permits of each limit. */
export function available({ world, call }: Fleet): number[] {
  return call({ kind: 'peek', client: otherClient, serverUs: world.serverUs }) as number[];
}

/** Steps that may remove grants, or exclude them from the count. */
const removing: Step['kind'][] = ['refund', 'cancel', 'release', 'forget', 'setRate'];

/** Replays the history. `look` sees the world before each step that may remove grants, and at the end. */
export function replay(history: History, fleet: Fleet, look: (world: World) => void = () => {}): CallReply[] {
  const replies: CallReply[] = [];
  for (const step of history.steps) {
    // Between these steps grants are only added, and earlier breaches stay visible.
    if (removing.includes(step.kind)) look(fleet.world);
    const call = plan(fleet.world, step);
    if (call) replies.push(fleet.call(call));
  }
  look(fleet.world);
  return replies;
}

/** The state that a ledger has after a call, unless it was forgotten: no reply of a refund tells of it. */
function stateOf(ledger: MemoryLedger): LedgerState | undefined {
  const { ledger: state } = ledger.found();
  return state && state.expires > 0 ? state : undefined;
}

/** The reply of a ledger that replies synchronously. */
function ask(ledger: ControlledLedger, call: Call): CallReply {
  let answer: { error: Error | null; reply?: unknown } | undefined;
  callLedger(ledger, call, (error, reply) => {
    answer = { error, reply };
  });
  if (!answer) throw new Error('the store did not reply synchronously');
  if (answer.error) throw answer.error;
  return answer.reply as CallReply;
}
