import fc from 'fast-check';
import sinon from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { leastWait } from '../../src/dispatcher/waitBounds.ts';
import type { Cost } from '../../src/limits/cost.ts';
import {
  capacityOf,
  fixedWindow,
  type Limit,
  leakyBucket,
  slidingWindow,
  tokenBucket,
} from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { momentOf } from '../../src/stores/segments.ts';
import type { LastMoment, Ledger, ReserveReply, ReserveRequest, Run } from '../../src/stores/store.ts';
import { runsOf } from '../support/campaign.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';

/** A request, and the time since the one before it. */
interface Ask {
  after: number;
  cost: Cost;
  timeout: number;
}

const ms = (min: number, max: number) => fc.integer({ min, max });
const rate = { permits: ms(1, 8), interval: ms(10, 300) };

const windows: fc.Arbitrary<Limit>[] = [
  fc.record({ ...rate, resolution: fc.constant(1) }).map(slidingWindow),
  fc.record({ ...rate, align: fc.constantFrom('first' as const, 'epoch' as const) }).map(fixedWindow),
];
const buckets: fc.Arbitrary<Limit>[] = [
  fc.record({ ...rate, burst: ms(1, 12) }).map(tokenBucket),
  fc.record(rate).map(leakyBucket),
];
/** Buckets that refill in whole milliseconds: beside other limits, a reservation ahead of now may save a part of one. */
const wholeBuckets = fc
  .record({ permits: ms(1, 8), factor: ms(1, 40), burst: ms(1, 12) })
  .map(({ permits, factor, burst }) => tokenBucket({ permits, interval: permits * factor, burst }));

/** A line before one limit, or before several. */
const linesOf = (limits: fc.Arbitrary<Limit>[], most: number) =>
  fc.array(fc.oneof(...limits), { minLength: 1, maxLength: most }).chain((limits) =>
    fc.record({
      limits: fc.constant(limits),
      asks: fc.array(
        fc.record({
          after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, ms(0, 100)),
          cost: fc.oneof(
            { weight: 2, arbitrary: fc.constant(limits.map(() => 1)) },
            fc
              .tuple(...limits.map((limit) => ms(limits.length > 1 ? 0 : 1, capacityOf(limit))))
              .filter((cost) => cost.some((n) => n > 0)),
          ),
          timeout: fc.oneof(
            fc.constant(Infinity),
            fc.constant(0),
            ms(1, 1000).map((n) => n + 0.5),
          ),
        }),
        { maxLength: 40 },
      ),
    }),
  );

const lines = linesOf([...windows, ...buckets], 1);
const severalLimits = linesOf([...windows, wholeBuckets], 3);

/** Grants at some moments, and then many requests at once, whose deadlines are about the moments that follow. */
const rushes = fc
  .array(fc.oneof(...windows, wholeBuckets), { minLength: 1, maxLength: 2 })
  .chain((limits) => {
    const cost = fc.tuple(...limits.map((limit) => ms(1, Math.min(3, capacityOf(limit)))));
    const taken = fc.record({ after: ms(0, 60), cost, timeout: fc.constant(0) });
    const timeout = fc.oneof(
      { weight: 1, arbitrary: fc.constant(Infinity) },
      {
        weight: 6,
        arbitrary: ms(1, 3 * Math.max(...limits.map(({ interval }) => interval))).map((n) => n + 0.5),
      },
    );
    const rush = fc.record({ after: fc.constant(0), cost, timeout });
    return fc
      .tuple(fc.array(taken, { maxLength: 8 }), fc.array(rush, { minLength: 5, maxLength: 30 }))
      .map(([before, asks]) => ({ limits, asks: [...before, ...asks] }));
  });

/** All may wait: over a wire, those that may not are refused together. */
const patient = ({ limits, asks }: { limits: Limit[]; asks: Ask[] }) => ({
  limits,
  asks: asks.map((ask) => ({ ...ask, timeout: Math.max(0.5, ask.timeout) })),
});

const ask = (after: number, cost: number, timeout: number): Ask => ({ after, cost: [cost], timeout });

/** Queues in which a denied request could be counted, wrongly, against the requests behind it. */
const known: [{ limits: Limit[]; asks: Ask[] }][] = [
  [
    {
      limits: [slidingWindow({ permits: 3, interval: 296, resolution: 1 })],
      asks: [
        ...[0, 0, 0].map(() => ask(0, 1, 1.5)),
        ask(13, 1, Infinity),
        ask(0, 1, Infinity),
        ask(0, 2, 283.5),
        ask(0, 1, 283.5),
      ],
    },
  ],
  [
    {
      limits: [fixedWindow({ permits: 3, interval: 165 })],
      asks: [ask(0, 1, 1.5), ask(0, 1, 0), ask(0, 2, 164.5), ask(0, 1, 0)],
    },
  ],
  [
    {
      limits: [slidingWindow({ permits: 6, interval: 222, resolution: 1 })],
      asks: [
        ask(0, 3, Infinity),
        ask(0, 1, 0),
        ask(0, 3, 222.5),
        ask(66, 1, 0),
        ask(0, 5, 156.5),
        ask(0, 1, 156.5),
        ask(0, 1, 156.5),
      ],
    },
  ],
  [
    {
      limits: [tokenBucket({ permits: 3, interval: 100, burst: 2 })],
      asks: [
        ask(0, 2, 0),
        ask(0, 1, Infinity),
        ask(0, 1, Infinity),
        ask(0, 1, 100.5),
        ask(0, 2, 153.5),
        ask(0, 1, 143.5),
      ],
    },
  ],
  [
    {
      limits: [tokenBucket({ permits: 3, interval: 100, burst: 2 })],
      asks: [ask(0, 2, 0), ...[0, 0, 0].map(() => ask(0, 1, Infinity)), ask(70, 1, 63.5), ask(0, 1, 64.5)],
    },
  ],
  [
    {
      limits: [tokenBucket({ permits: 3, interval: 100, burst: 2 })],
      asks: [
        ask(0, 2, 0),
        ...[0, 0, 0].map(() => ask(0, 1, Infinity)),
        ask(70, 2, 96.5),
        ask(0, 1, 128.5),
        ask(0, 1, 96.5),
        ask(0, 1, 128.5),
      ],
    },
  ],
];

/** When each request is granted if each is reserved at once, however far ahead; undefined if it is denied. */
function bookAll(limits: Limit[], asks: Ask[]): (number | undefined)[] {
  const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
  const ledger = openLedger(memoryStore(), limits, 'oracle');
  let last: LastMoment | undefined;
  let epoch = 0;
  const granted = asks.map(({ after, cost, timeout }) => {
    clock.tick(after);
    let answer: ReserveReply | undefined;
    const runs = [{ count: 1, cost, maxWait: timeout }];
    const request: ReserveRequest = { runs, horizon: 1e12, held: 0, epoch };
    if (last) request.last = last;
    ledger.reserve(request, (_, reply) => {
      answer = reply;
    });
    const { now, segments } = answer!;
    epoch = answer!.epoch;
    const { delay } = segments[0];
    if (delay < 0) return undefined;
    last = { moment: momentOf({ now }, delay), epoch };
    return performance.now() + delay;
  });
  sinon.restore();
  return granted;
}

/**
 * The ledger of a store whose state is not known here, as if over a wire that takes no time. Longest waits are rounded up for a
 * wire; here, all of them end half-way between two milliseconds.
 */
function overWire(ledger: Ledger): Ledger {
  const exact = (run: Run): Run => ({ ...run, maxWait: run.maxWait - 0.5 });
  return ledgerWith(ledger, {
    sync: false,
    take: undefined,
    untilFree: undefined,
    reserve: (request, reply) => ledger.reserve({ ...request, runs: request.runs.map(exact) }, reply),
  });
}

function wait(limits: Limit[], asks: Ask[], over = (ledger: Ledger) => ledger): (number | undefined)[] {
  const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
  const line = openLine(limits, over(openLedger(memoryStore(), limits, 'client')));
  const recorded = recorder<number>();
  asks.forEach(({ after, cost, timeout }, i) => {
    clock.tick(after);
    line.ask(recorded, cost, timeout, i);
  });
  clock.runAll();
  sinon.restore();
  const granted: (number | undefined)[] = asks.map(() => undefined);
  for (const { what, data, at } of recorded.endings) if (what === 'granted') granted[data] = at;
  return granted;
}

for (const [what, queues, examples] of [
  ['', lines, known],
  [' before several limits', severalLimits, []],
  [' in a rush', rushes, []],
] as const)
  test(`a queue${what} that reserves little ahead grants the same requests at the same moments as one that reserves all`, () =>
    fc.assert(
      fc.property(queues, ({ limits, asks }) => assert.equal(wait(limits, asks), bookAll(limits, asks))),
      { numRuns: runsOf(400), examples: [...examples] },
    ));

for (const [what, queues] of [
  ['', lines.map(patient)],
  [' in a rush', rushes.map(patient)],
] as const)
  test(`the same over a wire${what}`, () =>
    fc.assert(
      fc.property(queues, ({ limits, asks }) =>
        assert.equal(wait(limits, asks, overWire), bookAll(limits, asks)),
      ),
      { numRuns: runsOf(200) },
    ));

test('released permits may be granted at the moment of the last reservation, beyond the burst', () => {
  const limit = tokenBucket({ permits: 40, interval: 10, burst: 2 });
  assert.is(leastWait([limit], [1], [1], [5]), 0);
  // The rest takes its time.
  assert.is(leastWait([limit], [1], [5], [5]), 1);
});

test.run();
