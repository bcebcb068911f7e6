import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  capacityOf,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/limit.ts';
import { runsOf } from '../support/campaign.ts';
import { type Asked, Fleet, type Step } from './fleet.ts';

const ms = (min: number, max: number) => fc.integer({ min, max });
const rate = { permits: ms(1, 8), interval: ms(10, 300) };
const trip = fc.record({ there: ms(0, 40), back: ms(0, 40) });

const limits: fc.Arbitrary<Limit> = fc.oneof(
  fc.record({ ...rate, resolution: fc.constant(1) }).map(slidingWindow),
  fc.record(rate).map(fixedWindow),
  fc.record({ ...rate, burst: ms(1, 12) }).map(tokenBucket),
  fc.record(rate).map(leakyBucket),
);

const steps = (capacity: number): fc.Arbitrary<Step[]> => {
  const ask = fc.record({
    kind: fc.constant('ask' as const),
    client: ms(0, 1),
    // Mostly small and equal, so that requests have neighbours of the same cost.
    cost: fc.oneof({ weight: 3, arbitrary: fc.constant(1) }, ms(1, capacity)),
    timeout: fc.oneof(fc.constant(Infinity), fc.constant(0), ms(1, 400)),
  });
  const cancel = fc.record({ kind: fc.constant('cancel' as const), request: fc.nat() });
  const refund = fc.record({ kind: fc.constant('refund' as const), request: fc.nat() });
  const advance = fc.record({ kind: fc.constant('advance' as const), ms: ms(0, 120) });
  const change = fc.record({ kind: fc.constant('trip' as const), client: ms(0, 1), trip });
  const step = fc.oneof<[fc.WeightedArbitrary<Step>, ...fc.WeightedArbitrary<Step>[]]>(
    { weight: 8, arbitrary: ask },
    { weight: 3, arbitrary: cancel },
    { weight: 2, arbitrary: refund },
    { weight: 4, arbitrary: advance },
    { weight: 1, arbitrary: change },
  );
  return fc.array(step, { maxLength: 60 });
};

interface History {
  limit: Limit;
  trips: { there: number; back: number }[];
  steps: Step[];
}

const histories: fc.Arbitrary<History> = limits.chain((limit) =>
  fc.record({
    limit: fc.constant(limit),
    trips: fc.array(trip, { minLength: 1, maxLength: 2 }),
    steps: steps(capacityOf(limit)),
  }),
);

/** Longer than any reply takes, and a refund after it. */
const quiet = 400;

/** Checks every window of the grants against the limit. */
function assertNeverOver({ limit }: History, { standing }: Fleet): void {
  const grants = standing.sort((a, b) => a.moment - b.moment);
  for (let from = 0; from < grants.length; from++) {
    let taken = 0;
    for (let to = from; to < grants.length; to++) {
      taken += grants[to].cost;
      const time = grants[to].moment - grants[from].moment;
      const most =
        limit.kind === 'tokenBucket'
          ? // A bucket has a millisecond of slack.
            limit.burst + ((time + 1) * limit.permits) / limit.interval
          : // A span across the end of a fixed window overlaps two windows.
            limit.permits * (limit.kind === 'fixedWindow' ? 2 : 1);
      if (limit.kind !== 'tokenBucket' && time >= limit.interval) break;
      assert.ok(taken <= most + 1e-9, `${taken} within ${time} ms, expected at most ${most}`);
    }
  }
}

/** The longest round trip: fake timers take at least a millisecond each way. */
function longestTrip({ trips, steps }: History): number {
  const all = [...trips, ...steps.flatMap((step) => (step.kind === 'trip' ? [step.trip] : []))];
  return Math.max(...all.map(({ there, back }) => Math.max(1, there) + Math.max(1, back)));
}

function assertEnding(trip: number, { timeout, at, cancelled, endings, cost }: Asked): void {
  assert.is(endings.length, cancelled ? 0 : 1, 'every request ends once');
  const [ending] = endings;
  if (!ending) return;
  // A moment that may be within the timeout is granted, and a request waits for its first reply.
  const latest = at + Math.max(timeout + trip, 100, 4 * trip);
  if (timeout > 0) assert.ok(ending.at <= latest, 'never later than its timeout, or its first reply');
  if (ending.what === 'granted') {
    assert.equal(ending.grant.cost, [cost]);
    assert.ok(ending.grant.moment <= 1_700_000_000_000 + ending.at, 'never before its moment');
  }
}

function assertInOrder(fleet: Fleet): void {
  const clients = fleet.lines.map(() => -1);
  for (const { client, index } of fleet.granted) {
    assert.ok(index > clients[client], 'granted in the order of the requests');
    clients[client] = index;
  }
}

async function replay(history: History, check: (fleet: Fleet) => Promise<void>): Promise<void> {
  const fleet = new Fleet(history.limit, history.trips);
  try {
    for (const step of history.steps) fleet.run(step);
    await check(fleet);
    assertInOrder(fleet);
    assertNeverOver(history, fleet);
    for (const { wire } of fleet.lines) {
      assert.ok(wire.most.reserve <= 1, 'one reserve call at a time');
      assert.ok(wire.most.refund <= wire.mostRefundCalls!, 'no more refund calls than the store allows');
    }
  } finally {
    fleet.end();
  }
}

const numRuns = runsOf(1500);

test('every request ends once, in time and in order; the limit holds; the refunds are complete', () =>
  fc.assert(
    fc.asyncProperty(histories, (history) =>
      replay(history, async (fleet) => {
        assert.ok(fleet.settle(), 'no request waits for ever');
        for (const asked of fleet.asked) assertEnding(longestTrip(history), asked);
        fleet.run({ kind: 'advance', ms: 30_000 });
        assert.is(fleet.available, capacityOf(history.limit), 'no permit is lost');
        assert.ok(await fleet.close(quiet), 'closing ends');
        assert.is(fleet.clock.countTimers(), 0);
      }),
    ),
    { numRuns },
  ));

test('closing refunds all reservations', () =>
  fc.assert(
    fc.asyncProperty(histories, (history) =>
      replay(history, async (fleet) => {
        assert.ok(await fleet.close(quiet), 'closing ends');
        for (const asked of fleet.asked) assertEnding(longestTrip(history), asked);
        assert.is(fleet.clock.countTimers(), 0);
        const { limit } = history;
        if (limit.kind !== 'slidingWindow') return;
        const gone = Date.now() - limit.interval;
        const taken = fleet.standing.reduce((sum, { cost, moment }) => sum + (moment > gone ? cost : 0), 0);
        assert.is(fleet.available, limit.permits - taken);
      }),
    ),
    { numRuns },
  ));

test.run();
