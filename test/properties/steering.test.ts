import assert from 'node:assert/strict';
import { test } from 'uvu';
import type { Rate, Refund, ReserveReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { histories } from './history.ts';
import { available, type Fleet, openFleet, otherClient, replay } from './replay.ts';
import { scaled } from './scaled.ts';
import { fewLimits, limitOf, mostOf } from './specs.ts';
import { inForce, trueNow } from './world.ts';

const steered = histories(fewLimits, { steering: true });

/** The reply to a call of the client without requests. */
function emptyCall({ world, call }: Fleet, client: number): ReserveReply {
  const { serverUs } = world;
  const epoch = world.clients.get(client)?.epoch ?? 0;
  const request = { runs: [], horizon: 0, held: 0, epoch };
  return call({ kind: 'reserve', client, serverUs, request }) as ReserveReply;
}

/** Waits for the end of the pause. */
function outlastPause(fleet: Fleet): void {
  const { paused = 0 } = emptyCall(fleet, otherClient);
  fleet.world.serverUs += Math.round(paused * 1000);
}

function fullPermits({ world }: Fleet): number[] {
  return inForce(world).map(mostOf);
}

promise('no more is ever available than the limit', 1500, steered, (history) => {
  const fleet = openFleet(history);
  for (const step of history.steps) {
    replay({ ...history, steps: [step] }, fleet);
    const most = fullPermits(fleet);
    available(fleet).forEach((n, i) => {
      assert.ok(n >= 0 && n <= most[i], `${n} of ${most[i]} are available`);
    });
  }
});

promise('the reported rate is the one in force', 500, steered, (history) => {
  const fleet = openFleet(history);
  replay(history, fleet);
  const { world } = fleet;
  const rate = fleet.call({ kind: 'getRate', client: otherClient, serverUs: world.serverUs }) as Rate;
  assert.deepEqual(rate, { limits: inForce(world).map(limitOf), stored: world.stored !== undefined });
});

promise('a reply reports a pause, and nothing is reserved before its end', 2000, steered, (history) => {
  const fleet = openFleet(history);
  const { world } = fleet;
  let longest = 0;
  for (const step of history.steps) {
    if (step.kind === 'pause') longest = Math.max(longest, step.ms);
    if (step.kind === 'forget') longest = 0;
    const [reply] = replay({ ...history, steps: [step] }, fleet);
    if (step.kind !== 'reserve') continue;
    const { paused = 0, segments } = reply as ReserveReply;
    const pausedUs = Math.round(paused * 1000);
    const left = world.pausedUntilUs - trueNow(world);
    // It ends on a whole millisecond; a step of the clock may prolong it to its full length.
    const most = world.setBack > 0 ? (longest + 2) * 1000 : left + 1000;
    assert.ok(pausedUs >= left && pausedUs <= Math.max(0, most), `${paused}, not ${left / 1000}`);
    assert.ok(segments.every(({ delay }) => delay < 0 || delay >= paused));
  }
});

promise('after a reset, earlier reservations are void and all permits are free', 1000, steered, (history) => {
  const fleet = openFleet(history);
  replay(history, fleet);
  const { world } = fleet;
  const known = [...world.clients].filter(([, { epoch }]) => epoch > 0);
  fleet.call({ kind: 'forget', client: otherClient, serverUs: world.serverUs, rate: false });
  assert.deepEqual(available(fleet), fullPermits(fleet));
  for (const [client] of known) assert.equal(emptyCall(fleet, client).voidAfter, 0);
});

promise('a rate stored without the state gives a full limit at once', 1000, steered, (history) => {
  const fleet = openFleet(history);
  replay(history, fleet);
  const { world } = fleet;
  const change = { limits: history.limits, ifAbsent: false, keepState: false };
  fleet.call({ kind: 'setRate', client: otherClient, serverUs: world.serverUs, change });
  outlastPause(fleet);
  assert.deepEqual(available(fleet), fullPermits(fleet));
});

promise('a grant made before a reset restores nothing', 2000, scaled(steered), (history) => {
  const fleet = openFleet(history);
  const { world } = fleet;
  replay(history, fleet);
  const refunds = [...world.grants, ...world.voided]
    .filter((grant) => grant.epoch > 0)
    .map((grant): Refund => ({ ...grant, source: 'memory' }));
  fleet.call({ kind: 'forget', client: otherClient, serverUs: world.serverUs, rate: false });
  const runs = [{ count: 3, cost: history.limits.map(() => 1), maxWait: Infinity }];
  replay(
    { ...history, steps: [{ kind: 'reserve', client: otherClient, runs, horizon: 1e6, held: 0 }] },
    fleet,
  );
  const before = available(fleet);
  fleet.call({ kind: 'refund', client: otherClient, serverUs: world.serverUs, refunds, sequence: 1 });
  assert.deepEqual(available(fleet), before);
});

test.run();
