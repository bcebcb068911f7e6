import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import { type DecideReply, outcome, type ReserveReply, type Run } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { histories } from './history.ts';
import { type Fleet, openFleet, replay } from './replay.ts';
import { costOf, rawCost } from './requests.ts';
import { fewLimits, mostOf } from './specs.ts';
import type { History } from './steps.ts';

/** A history, and a request of another client in the middle of it. */
interface Visit {
  history: History;
  /** The position in the history, in percent. */
  when: number;
  run: Run;
}

const visitor = 99;

// Without steps of the clock: an additional call would see steps that the others do not see.
const visits: fc.Arbitrary<Visit> = fc
  .record({
    history: histories(fewLimits, { stepsBack: false }),
    when: fc.integer({ min: 0, max: 100 }),
    raw: rawCost,
    count: fc.integer({ min: 1, max: 6 }),
    maxWait: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 10 })),
  })
  .map(({ history, when, raw, count, maxWait }) => {
    const cost = costOf(raw, history.limits).map((n, i) => Math.min(n, mostOf(history.limits[i])));
    // A single request, if it may wait: it is granted, reserved or rejected as a whole.
    return { history, when, run: { cost, maxWait, count: maxWait > 0 ? 1 : count } };
  });

/** Replays the history with the visit in the middle. Returns the replies before and after it. */
function around({ history, when }: Visit, visit: (fleet: Fleet) => void): unknown[] {
  const fleet = openFleet(history);
  const middle = Math.floor((history.steps.length * when) / 100);
  const before = replay({ ...history, steps: history.steps.slice(0, middle) }, fleet);
  visit(fleet);
  const { serverUs } = fleet.world;
  const available = fleet.call({ kind: 'peek', client: 0, serverUs });
  const after = replay({ ...history, steps: history.steps.slice(middle) }, fleet);
  return [before, available, after];
}

promise('a refused request changes nothing for any client', 4000, visits, (visit) => {
  const { run } = visit;
  const reserve = (fleet: Fleet, count: number): number => {
    const { serverUs } = fleet.world;
    const request = { runs: [{ ...run, count }], horizon: 100, held: 0, epoch: 0 };
    const { segments } = fleet.call({ kind: 'reserve', client: visitor, serverUs, request }) as ReserveReply;
    // A request that stays queued for its client's turn is not refused, and its client is a contender.
    const accepted = segments.filter(({ delay }) => delay >= 0 || delay === outcome.queued);
    return accepted.reduce((sum, { count }) => sum + count, 0);
  };
  let accepted = 0;
  const withRequest = around(visit, (fleet) => {
    accepted = reserve(fleet, run.count);
  });
  const withoutRequest = around(visit, (fleet) => {
    if (accepted > 0) reserve(fleet, accepted);
  });
  assert.deepEqual(withRequest, withoutRequest);
});

promise('a denied decision changes nothing for any client', 3000, visits, (visit) => {
  const decide = (fleet: Fleet): boolean => {
    const { serverUs } = fleet.world;
    const call = { kind: 'decide', client: visitor, serverUs, cost: visit.run.cost } as const;
    return (fleet.call(call) as DecideReply).granted;
  };
  let granted = false;
  const withRequest = around(visit, (fleet) => {
    granted = decide(fleet);
  });
  const withoutRequest = around(visit, (fleet) => {
    if (granted) decide(fleet);
  });
  assert.deepEqual(withRequest, withoutRequest);
});

test.run();
