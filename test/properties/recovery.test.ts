import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import type { DecideReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { histories, historiesOf } from './history.ts';
import { available, type Fleet, openFleet, otherClient, replay } from './replay.ts';
import { anyLimit, exactSlidingWindows, fewLimits, type LimitSpec, mostOf } from './specs.ts';
import type { History, Step } from './steps.ts';

/** A step in which the client refunds all that it can. */
function refundAllOf(client: number): Step {
  return { kind: 'cancel', client, every: 1, newestFirst: false, ahead: false };
}

/** The time until a limit is full again after its last reservation, in ms. */
function recoveryOf(limit: LimitSpec): number {
  if (limit.kind === 'slidingWindow') return limit.interval + limit.resolution;
  if (limit.kind === 'fixedWindow') return limit.interval;
  // A grant ahead of reservations is recorded up to a millisecond late, and what is refilled until then may have no room.
  return Math.ceil((limit.burst * limit.interval) / limit.permits) + 1;
}

const still = { stepsBack: false };

promise(
  'an idle limiter says when it is full again, and then it is',
  3000,
  histories(fewLimits, still),
  (history) => {
    const fleet = openFleet(history);
    let newest = 0;
    replay(history, fleet, ({ grants }) => {
      newest = Math.max(newest, ...grants.map(({ moment }) => moment));
    });
    const { world } = fleet;
    const cost = history.limits.map((_, i) => (i === 0 ? 1 : 0));
    const { resetAfter } = fleet.call({
      kind: 'decide',
      client: otherClient,
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

/** A client reserves all that it can within `maxWait`, and refunds all of it at once. */
function reserveAndRefund(history: History, fleet: Fleet, maxWait: number): void {
  const cost = history.limits.map(() => 1);
  const runs = [{ count: 12, cost, maxWait }];
  const reserve: Step = { kind: 'reserve', client: otherClient, runs, horizon: 1e6, held: 0 };
  replay({ ...history, steps: [reserve, refundAllOf(otherClient)] }, fleet);
}

promise(
  'a sliding window restores all cancelled reservations',
  2000,
  historiesOf(exactSlidingWindows),
  (history) => {
    const fleet = openFleet(history);
    replay(history, fleet);
    const before = available(fleet);
    reserveAndRefund(history, fleet, Infinity);
    assert.deepEqual(available(fleet), before);
  },
);

promise('a new limit restores all grants that were not used', 1000, anyLimit, (limit) => {
  const history: History = { startUs: 1_000_000_000, limits: [limit], steps: [] };
  const fleet = openFleet(history);
  reserveAndRefund(history, fleet, 0);
  assert.deepEqual(available(fleet), [mostOf(limit)]);
});

const leaving = fc.record({ history: histories(fewLimits, still), client: fc.integer({ min: 0, max: 2 }) });

promise('a refund never reduces the free permits', 2000, leaving, ({ history, client }) => {
  const fleet = openFleet(history);
  replay(history, fleet);
  // Within a millisecond, the window that begins at its end may be the one that counts, until it is empty again.
  fleet.world.serverUs = Math.ceil(fleet.world.serverUs / 1000) * 1000;
  const before = available(fleet);
  replay({ ...history, steps: [refundAllOf(client)] }, fleet);
  const after = available(fleet);
  assert.ok(
    after.every((n, i) => n >= before[i]),
    `${after} after ${before}`,
  );
});

test.run();
