import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import type { ReserveReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { openFleet } from './replay.ts';
import {
  coarseSlidingWindows,
  exactSlidingWindows,
  fixedWindows,
  type LimitSpec,
  leakyBuckets,
  tokenBuckets,
} from './specs.ts';

/** The permits granted between `start` and `end`, in ms, to a client that always requests more. */
function granted(limit: LimitSpec, start: number, end: number): number {
  const history = { startUs: start * 1000, limits: [limit], steps: [] };
  const fleet = openFleet(history);
  const runs = [{ count: 256, cost: [1], maxWait: Infinity }];
  const request = { runs, horizon: 1e9, held: 0, epoch: 0 };
  let sum = 0;
  for (;;) {
    const { serverUs } = fleet.world;
    const reply = fleet.call({ kind: 'reserve', client: 0, serverUs, request }) as ReserveReply;
    for (const { count, delay } of reply.segments) {
      const moment = Math.round(reply.now + delay);
      if (moment >= end) return sum;
      sum += count;
      // The next call comes when the last of these permits are due.
      fleet.world.serverUs = moment * 1000;
    }
    fleet.world.grants.length = 0;
  }
}

const start = 1_700_000_000_000;
const day = 86_400_000;

test('a token bucket gives 7 permits a second for four hours, to the permit', () => {
  const limit: LimitSpec = { kind: 'tokenBucket', permits: 7, interval: 1000, burst: 7 };
  const hours = day / 6;
  // The last millisecond counts in full.
  assert.equal(granted(limit, start, start + hours + 1), 7 + (hours * 7) / 1000);
});

test('a leaky bucket of 900 permits a second gives 900 a second, on whole milliseconds', () => {
  const limit: LimitSpec = { kind: 'tokenBucket', permits: 900, interval: 1000, burst: 1 };
  assert.equal(granted(limit, start, start + 10_000 + 1), 1 + 9000);
});

test('windows give exactly their permits, every interval of a whole day', () => {
  const rate = { permits: 7, interval: 1000 };
  const windows: LimitSpec[] = [
    { kind: 'slidingWindow', ...rate, resolution: 1 },
    { kind: 'fixedWindow', ...rate, align: 'first' },
    { kind: 'fixedWindow', ...rate, align: 'epoch' },
  ];
  for (const limit of windows) assert.equal(granted(limit, start, start + day), (7 * day) / 1000);
});

const starts = fc.integer({ min: 0, max: 10_000 });
const intervals = 20;

type Bucket = LimitSpec & { kind: 'tokenBucket' };

const anyBuckets = fc.oneof(tokenBuckets, leakyBuckets).map((limit) => limit as Bucket);

promise(
  'a bucket gives a full burst and then every refilled permit',
  300,
  fc.tuple(anyBuckets, starts),
  ([limit, from]) => {
    const { permits, interval, burst } = limit;
    const span = intervals * interval;
    assert.equal(granted(limit, from, from + span + 1), burst + Math.floor((span * permits) / interval));
  },
);

promise(
  'an exact window gives its permits every interval',
  300,
  fc.tuple(fc.oneof(exactSlidingWindows, fixedWindows('first')), starts),
  ([limit, from]) => {
    const end = from + intervals * limit.interval;
    assert.equal(granted(limit, from, end), intervals * limit.permits);
  },
);

promise(
  'an aligned window gives its permits every interval, and at once in an interval that has begun',
  300,
  fc.tuple(fixedWindows('epoch'), starts),
  ([limit, from]) => {
    const end = (Math.floor(from / limit.interval) + intervals) * limit.interval;
    assert.equal(granted(limit, from, end), intervals * limit.permits);
  },
);

promise(
  'a window of slots gives its permits every interval and a slot at the latest',
  300,
  fc.tuple(coarseSlidingWindows, starts),
  ([limit, from]) => {
    if (limit.kind !== 'slidingWindow') return;
    const end = from + intervals * (limit.interval + limit.resolution);
    assert.ok(granted(limit, from, end) >= intervals * limit.permits);
  },
);

test.run();
