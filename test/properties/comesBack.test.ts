import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import type { DecideReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { histories, historiesOf } from './history.ts';
import { available, type Fleet, openFleet, replay, someone } from './replay.ts';
import { anyLimit, exactSlidingWindows, fewLimits, type LimitSpec, mostOf } from './specs.ts';
import type { History, Step } from './steps.ts';

/** The client gives back all that it can. */
function giveBackOf(client: number): Step {
  return { kind: 'cancel', client, every: 1, newestFirst: false, ahead: false };
}

/** Milliseconds until a limit that has just booked as far as it can is full again. */
function recoveryOf(limit: LimitSpec): number {
  if (limit.kind === 'slidingWindow') return limit.interval + limit.resolution;
  if (limit.kind === 'fixedWindow') return limit.interval;
  return Math.ceil((limit.burst * limit.interval) / limit.permits);
}

const still = { stepsBack: false };

promise(
  'an idle limiter says when it is full again, and then it is',
  3000,
  histories(fewLimits, still),
  (history) => {
    const fleet = openFleet(history);
    let newest = 0;
    replay(history, fleet, ({ standing }) => {
      newest = Math.max(newest, ...standing.map(({ moment }) => moment));
    });
    const { world } = fleet;
    const cost = history.limits.map((_, i) => (i === 0 ? 1 : 0));
    const { resetAfter } = fleet.call({
      kind: 'decide',
      client: someone,
      serverUs: world.serverUs,
      cost,
    }) as DecideReply;
    const now = Math.ceil(world.serverUs / 1000);
    const latest = Math.max(newest, now) + Math.max(...history.limits.map(recoveryOf));
    world.serverUs += Math.round(resetAfter * 1000);
    assert.ok(world.serverUs <= latest * 1000, `full at ${world.serverUs / 1000}, not by ${latest}`);
    assert.deepEqual(available(fleet), history.limits.map(mostOf));
  },
);

/** Somebody asks for all that can be booked within a while, and gives all of it back at once. */
function askAndGiveBack(history: History, fleet: Fleet, maxWait: number): void {
  const cost = history.limits.map(() => 1);
  const runs = [{ count: 12, cost, maxWait }];
  const asks: Step = { kind: 'reserve', client: someone, runs, horizon: 1e6, held: 0 };
  replay({ ...history, steps: [asks, giveBackOf(someone)] }, fleet);
}

promise(
  'a sliding window restores all cancelled reservations',
  2000,
  historiesOf(exactSlidingWindows),
  (history) => {
    const fleet = openFleet(history);
    replay(history, fleet);
    const before = available(fleet);
    askAndGiveBack(history, fleet, Infinity);
    assert.deepEqual(available(fleet), before);
  },
);

promise('a new limit restores all grants that were not used', 1000, anyLimit, (limit) => {
  const history: History = { startUs: 1_000_000_000, limits: [limit], steps: [] };
  const fleet = openFleet(history);
  askAndGiveBack(history, fleet, 0);
  assert.deepEqual(available(fleet), [mostOf(limit)]);
});

const leaving = fc.record({ history: histories(fewLimits, still), client: fc.integer({ min: 0, max: 2 }) });

promise('a refund never reduces the free permits', 2000, leaving, ({ history, client }) => {
  const fleet = openFleet(history);
  replay(history, fleet);
  const before = available(fleet);
  replay({ ...history, steps: [giveBackOf(client)] }, fleet);
  const after = available(fleet);
  assert.ok(
    after.every((n, i) => n >= before[i]),
    `${after} after ${before}`,
  );
});

test.run();
