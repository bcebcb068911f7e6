import type sinon from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LimiterClosedError } from '../../src/errors.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Ledger, Store } from '../../src/stores/store.ts';
import { worksInTurn } from '../../src/workQueue.ts';
import { fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';

const limit = slidingWindow({ permits: 1, interval: 60_000 });
const keys = Array.from({ length: 1_000 }, (_, i) => `key ${i}`);

/** Holds the works of the next turn of the event loop, and runs them one turn at a time. */
function heldTurns(clock: sinon.SinonFakeTimers) {
  const held: (() => void)[] = [];
  globalThis.setImmediate = ((work: () => void) => held.push(work)) as never;
  return (ms = 0) => {
    for (const work of held.splice(0)) work();
    clock.tick(ms);
  };
}

/** A store without a synchronous ledger, and the number of its calls since they were last read. */
function countedStore(): { store: Store; calls(): number } {
  const inner = memoryStore();
  let count = 0;
  const store: Store = {
    open(config) {
      const ledger = inner.open(config);
      const reserve: Ledger['reserve'] = (request, reply) => {
        count++;
        ledger.reserve(request, reply);
      };
      return ledgerWith(ledger, { sync: false, take: undefined, reserve });
    },
  };
  const calls = () => {
    const made = count;
    count = 0;
    return made;
  };
  return { store, calls };
}

/** The calls in each of some turns. */
function callsIn(turns: number, turn: () => void, calls: () => number): number[] {
  return Array.from({ length: turns }, () => {
    turn();
    return calls();
  });
}

const inTurns = [worksInTurn, worksInTurn, worksInTurn, keys.length - 3 * worksInTurn];

timed('the calls of thousands of keys leave over several turns', (clock) => {
  const { store, calls } = countedStore();
  const group = new RateLimiterGroup({ name: 'api', limit, store });
  const turn = heldTurns(clock);
  for (const key of keys) fateOf(group.get(key).acquire());
  assert.equal(callsIn(5, turn, calls), [...inTurns, 0]);
});

timed('the calls of thousands of waiting keys that are due together leave over several turns', (clock) => {
  const { store, calls } = countedStore();
  const group = new RateLimiterGroup({ name: 'api', limit, store });
  const turn = heldTurns(clock);
  for (const key of keys) for (let i = 0; i < 2; i++) fateOf(group.get(key).acquire());
  callsIn(5, turn, calls);
  clock.tick(1_500);
  const due = [calls(), ...callsIn(5, turn, calls)];
  assert.ok(Math.max(...due) <= worksInTurn, `${due}`);
  assert.is(
    due.reduce((sum, count) => sum + count),
    keys.length,
  );
});

timed('each request of a later turn has its own time', async (clock) => {
  const { store } = countedStore();
  const group = new RateLimiterGroup({ name: 'api', limit, store });
  const turn = heldTurns(clock);
  for (const key of keys) fateOf(group.get(key).acquire());
  turn(5);
  const late = fateOf(group.get('late').acquire());
  for (let i = 0; i < 4; i++) turn();
  await Promise.resolve();
  assert.is(late.value?.waited, 0);
});

timed('thousands of waiting keys are closed over several turns, in which none is granted', async (clock) => {
  const group = new RateLimiterGroup({ name: 'api', limit });
  await Promise.all(keys.map((key) => group.get(key).acquire()));
  const waits = keys.map((key) => fateOf(group.get(key).acquire()));
  await clock.tickAsync(0);
  const turn = heldTurns(clock);
  const closed = fateOf(group.close());
  const ended = async () => {
    await Promise.resolve();
    return waits.filter(({ reason }) => reason !== undefined).length;
  };
  // Past the moments of all reservations, before the next turn.
  clock.tick(limit.interval);
  assert.is(await ended(), worksInTurn);
  turn();
  assert.is(await ended(), 2 * worksInTurn);
  for (let i = 0; i < 4; i++) turn();
  await clock.runAllAsync();
  assert.ok(closed.at !== undefined);
  for (const { reason } of waits) assert.instance(reason, LimiterClosedError);
});

test.run();
