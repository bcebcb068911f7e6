import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import { memoryTwin, type Outcome } from '../redis/memoryTwin.ts';
import type { Scope } from '../redis/twins.ts';
import { promise } from '../support/campaign.ts';
import { limitNames } from '../support/limitNames.ts';
import type { Call } from './calls.ts';
import { histories } from './history.ts';
import { plan, settle } from './plan.ts';
import { fewLimits, limitOf } from './specs.ts';
import { changedIn } from './steered.ts';
import type { History, Step } from './steps.ts';
import { createWorld } from './world.ts';

/** The parts of a reply and a state that the fast path and the slow path must have in common. */
function comparable({ reply, state, control }: Outcome, { serverUs }: Call): unknown {
  if (!state) return { reply, control };
  // A call that does not open the ledger leaves its time as it is, also after the clock has stepped back.
  const now = Math.max(state.seen, Math.floor(serverUs / 1000) + state.shift);
  // A contender that has expired need not have been removed yet.
  const soleUntil = state.soleUntil > now ? state.soleUntil : 0;
  return { reply: withoutVoidAfter(reply), control, state: { ...state, soleUntil } };
}

/** The fast path serves clients without reservations, and omits `voidAfter`. */
function withoutVoidAfter(reply: Outcome['reply']): unknown {
  if (typeof reply !== 'object' || !('segments' in reply)) return reply;
  const { voidAfter: _, ...rest } = reply;
  return rest;
}

/** Replays a history with and without the fast path. Returns the number of calls that the fast path served. */
function replayBoth(history: History, scope: Scope): number {
  const config = {
    names: limitNames(history.limits),
    limits: history.limits.map(limitOf),
  };
  const world = createWorld({ ...history, startUs: history.startUs + 1e12 });
  let served = 0;
  const fastPath = memoryTwin(scope, () => served++);
  const slowPath = memoryTwin(scope);
  for (const step of history.steps) {
    const call = plan(world, step);
    if (!call) continue;
    const expected = slowPath(config, call);
    settle(world, call, expected.reply, changedIn(expected.state));
    const actual = fastPath(config, call);
    assert.deepEqual(comparable(actual, call), comparable(expected, call), `after ${JSON.stringify(call)}`);
  }
  return served;
}

/** Reserves for one request, without reservations of the client. */
function single(step: Step): Step {
  if (step.kind !== 'reserve') return step;
  return { ...step, held: 0, runs: [{ ...step.runs[0], count: 1 }] };
}

const content = { steering: true, maxLength: 80 };
const mixed = fc.tuple(histories(fewLimits, content), fc.integer({ min: 1, max: 4 })).map(
  ([history, every]): History => ({
    ...history,
    steps: history.steps.map((step, i) => (i % every === 0 ? single(step) : step)),
  }),
);

let servedInAll = 0;
for (const scope of ['fleet', 'client'] as const)
  promise(
    `the fast path replies and writes what the slow path does, for each ${scope}`,
    2000,
    mixed,
    (history) => {
      servedInAll += replayBoth(history, scope);
    },
  );

test('the fast path served some of the calls', () => {
  assert.ok(servedInAll > 100, `${servedInAll} times`);
});

test.run();
