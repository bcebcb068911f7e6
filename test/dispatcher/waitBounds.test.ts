import fc from 'fast-check';
import sinon from 'sinon';
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
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import { runsOf } from '../support/campaign.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';

/** A request, and the time since the one before it. */
interface Ask {
  after: number;
  cost: number;
  timeout: number;
}

const ms = (min: number, max: number) => fc.integer({ min, max });
const rate = { permits: ms(1, 8), interval: ms(10, 300) };

const limits: fc.Arbitrary<Limit> = fc.oneof(
  fc.record({ ...rate, resolution: fc.constant(1) }).map(slidingWindow),
  fc.record(rate).map(fixedWindow),
  fc.record({ ...rate, burst: ms(1, 12) }).map(tokenBucket),
  fc.record(rate).map(leakyBucket),
);

const lines = limits.chain((limit) =>
  fc.record({
    limit: fc.constant(limit),
    asks: fc.array(
      fc.record({
        after: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, ms(0, 100)),
        cost: fc.oneof({ weight: 2, arbitrary: fc.constant(1) }, ms(1, capacityOf(limit))),
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

const ask = (after: number, cost: number, timeout: number): Ask => ({ after, cost, timeout });

/** Queues in which a denied request could be counted, wrongly, against the requests behind it. */
const known: [{ limit: Limit; asks: Ask[] }][] = [
  [
    {
      limit: slidingWindow({ permits: 3, interval: 296, resolution: 1 }),
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
      limit: fixedWindow({ permits: 3, interval: 165 }),
      asks: [ask(0, 1, 1.5), ask(0, 1, 0), ask(0, 2, 164.5), ask(0, 1, 0)],
    },
  ],
  [
    {
      limit: slidingWindow({ permits: 6, interval: 222, resolution: 1 }),
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
      limit: tokenBucket({ permits: 3, interval: 100, burst: 2 }),
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
      limit: tokenBucket({ permits: 3, interval: 100, burst: 2 }),
      asks: [ask(0, 2, 0), ...[0, 0, 0].map(() => ask(0, 1, Infinity)), ask(70, 1, 63.5), ask(0, 1, 64.5)],
    },
  ],
  [
    {
      limit: tokenBucket({ permits: 3, interval: 100, burst: 2 }),
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
function bookAll(limit: Limit, asks: Ask[]): (number | undefined)[] {
  const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
  const ledger = openLedger(memoryStore(), limit, 'oracle');
  const granted = asks.map(({ after, cost, timeout }) => {
    clock.tick(after);
    let answer: ReserveReply | undefined;
    const runs = [{ count: 1, cost: [cost], maxWait: timeout }];
    ledger.reserve({ runs, horizon: 1e12, held: 0, epoch: 0 }, (_, reply) => {
      answer = reply;
    });
    const { delay } = answer!.segments[0];
    return delay < 0 ? undefined : performance.now() + delay;
  });
  sinon.restore();
  return granted;
}

function wait(limit: Limit, asks: Ask[]): (number | undefined)[] {
  const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
  const line = openLine(limit, openLedger(memoryStore(), limit, 'client'));
  const recorded = recorder<number>();
  asks.forEach(({ after, cost, timeout }, i) => {
    clock.tick(after);
    line.ask(recorded, [cost], timeout, i);
  });
  clock.runAll();
  sinon.restore();
  const granted: (number | undefined)[] = asks.map(() => undefined);
  for (const { what, data, at } of recorded.endings) if (what === 'granted') granted[data] = at;
  return granted;
}

test('a queue that reserves little ahead grants the same requests at the same moments as one that reserves all', () =>
  fc.assert(
    fc.property(lines, ({ limit, asks }) => assert.equal(wait(limit, asks), bookAll(limit, asks))),
    { numRuns: runsOf(600), examples: known },
  ));

test.run();
