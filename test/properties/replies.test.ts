import assert from 'node:assert/strict';
import { test } from 'uvu';
import type { DecideReply, ReserveReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { histories, historiesOf } from './history.ts';
import { type Fleet, openFleet, otherClient, replay } from './replay.ts';
import { anyLimit, fewLimits, mostOf } from './specs.ts';
import type { History, Step } from './steps.ts';

/** Replays the history, and calls `look` with each reserve step and its reply. */
function eachReserve(
  history: History,
  look: (step: Step & { kind: 'reserve' }, reply: ReserveReply) => void,
) {
  const fleet = openFleet(history);
  for (const step of history.steps) {
    const [reply] = replay({ ...history, steps: [step] }, fleet);
    if (step.kind === 'reserve') look(step, reply as ReserveReply);
  }
}

function decide(fleet: Fleet, cost: readonly number[]): DecideReply {
  const { serverUs } = fleet.world;
  return fleet.call({ kind: 'decide', client: otherClient, serverUs, cost }) as DecideReply;
}

promise(
  'every request of a call gets a reply, and none waits longer than it may',
  3000,
  histories(fewLimits),
  (history) => {
    eachReserve(history, ({ runs }, { segments }) => {
      const rest = [...segments];
      for (const { count, maxWait } of runs)
        for (let left = count; left > 0; ) {
          const segment = rest.shift();
          assert.ok(segment && segment.count >= 1 && segment.count <= left);
          assert.ok(segment.delay <= maxWait);
          left -= segment.count;
        }
      assert.deepEqual(rest, []);
    });
  },
);

promise('a reservation is due on a whole millisecond', 2000, histories(fewLimits), (history) => {
  eachReserve(history, (_, { now, segments }) => {
    for (const { delay } of segments) if (delay > 0) assert.equal(Math.round((now + delay) * 1000) % 1000, 0);
  });
});

const calm = { refunds: false, stepsBack: false };

promise('one limit grants in the order of arrival', 3000, historiesOf(anyLimit, calm), (history) => {
  let newest = 0;
  eachReserve(history, (_, { now, segments }) => {
    for (const { delay } of segments) {
      if (delay < 0) continue;
      const moment = Math.ceil(Math.round((now + delay) * 1000) / 1000);
      assert.ok(moment >= newest, `${moment} was granted after ${newest}`);
      newest = moment;
    }
  });
});

const still = histories(fewLimits, { stepsBack: false });

promise('no request overtakes the reservations of a sliding window', 3000, still, (history) => {
  const sliding = history.limits.map(({ kind }) => kind === 'slidingWindow');
  const fleet = openFleet(history);
  const { grants } = fleet.world;
  for (const step of history.steps) {
    const before = grants.length;
    replay({ ...history, steps: [step] }, fleet);
    if (step.kind !== 'reserve' && step.kind !== 'decide') continue;
    for (let i = Math.max(1, before); i < grants.length; i++) {
      const { cost, moment } = grants[i];
      const passed = grants
        .slice(0, i)
        .find((other) => other.moment > moment && meet(other.cost, cost, sliding));
      assert.equal(passed, undefined, `${moment} was granted after ${passed?.moment}`);
    }
  }
});

/** Whether both costs charge one of the limits of `among`. */
function meet(a: readonly number[], b: readonly number[], among: readonly boolean[]): boolean {
  return among.some((counts, i) => counts && a[i] > 0 && b[i] > 0);
}

promise('a denial reports when the same request will be granted', 3000, still, (history) => {
  const fleet = openFleet(history);
  const replies = replay(history, fleet);
  const cost = history.limits.map(mostOf);
  let denial = decide(fleet, cost);
  if (denial.granted) return;
  // A client that is to call again for rare permits makes it later: by two seconds at most, if it does not call.
  const isAwaited = replies.some(
    (reply) => typeof reply === 'object' && 'segments' in reply && reply.retryAfter !== undefined,
  );
  const { world } = fleet;
  const latest = world.serverUs + 2_000_000 + Math.round(denial.retryAfter * 1000);
  // In the last millisecond before the next fixed window, those before it are forgotten: it may be full.
  const isFixed = history.limits.some(({ kind }) => kind === 'fixedWindow');
  const isLast = () =>
    isFixed && world.grants.some(({ moment }) => moment - 1 === Math.floor(world.serverUs / 1000));
  do {
    world.serverUs += Math.round(denial.retryAfter * 1000);
    denial = decide(fleet, cost);
  } while (!denial.granted && (isAwaited || isLast()) && world.serverUs < latest);
  assert.equal(denial.granted, true);
});

test.run();
