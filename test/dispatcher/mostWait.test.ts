// The bound of the time until a limit has granted some permits in any case.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { leastWait, mostUntilFree, mostWait } from '../../src/dispatcher/waitBounds.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';

const now = () => 0;
const sliding = slidingWindow({ permits: 10, interval: 1000, resolution: 1 });
const slots = slidingWindow({ permits: 10, interval: 1000, resolution: 300 });
const fixed = fixedWindow({ permits: 10, interval: 1000 });
const bucket = tokenBucket({ permits: 3, interval: 1000, burst: 5 });

/** A limit, the permits asked for, the most of one request, the number of requests, and the milliseconds. */
const rows: [Limit, number, number, number, number][] = [
  [sliding, 10, 1, 10, 0],
  // Of a log of whole milliseconds, each window is rounded up once; of slots that the interval is no multiple of, each time.
  [sliding, 11, 1, 11, 1001],
  [sliding, 30, 1, 30, 2001],
  [slots, 11, 1, 11, 1300],
  [slots, 30, 1, 30, 2600],
  [fixed, 10, 1, 10, 0],
  [fixed, 11, 1, 11, 1000],
  [fixed, 20, 1, 20, 1000],
  [fixed, 21, 1, 21, 2000],
  // Two permits of each window may be too few for a request of three.
  [fixed, 18, 3, 6, 1000],
  [fixed, 19, 3, 7, 2000],
  [bucket, 5, 4, 2, 0],
  [bucket, 6, 4, 2, 334],
  // A request for the whole burst may lose a part of a millisecond's refill.
  [bucket, 5, 5, 2, 2],
  [bucket, 10, 5, 3, 1667 + 3],
  [tokenBucket({ permits: 2, interval: 1000, burst: 5 }), 5, 5, 2, 0],
  // A millisecond's refill just has room beside it, or not.
  [tokenBucket({ permits: 3000, interval: 1000, burst: 5 }), 5, 2, 2, 0],
  [tokenBucket({ permits: 3001, interval: 1000, burst: 5 }), 5, 2, 2, 2],
];

for (const [limit, asked, most, requests, wait] of rows)
  test(`${asked} permits of a ${limit.kind} in ${requests} requests of ${most} at most: ${wait} ms`, () => {
    assert.is(mostWait(now, [limit], [asked], [most], requests), wait);
    assert.is(
      mostWait(() => 40, [limit], [asked], [most], requests),
      wait + 40,
    );
  });

test('several limits are known for one window or burst only, and nothing is known of an unknown state', () => {
  const both = [sliding, bucket];
  assert.is(
    mostWait(() => 9, both, [10, 5], [1, 1], 5),
    9,
  );
  assert.is(mostWait(now, both, [11, 5], [1, 1], 5), Infinity);
  assert.is(mostWait(now, both, [10, 6], [1, 1], 5), Infinity);
  assert.is(
    mostWait(() => Infinity, [fixed], [1], [1], 1),
    Infinity,
  );
});

test('the least time until permits are granted behind a reservation, and if its limit has decided its moment', () => {
  const both = (limit: Limit, asked: number) =>
    [false, true].map((decided) => leastWait([limit], [1], [asked], [1], decided));
  assert.equal(both(sliding, 20), [2000, 2000]);
  // The rest of one window and the whole of the next can be granted together, unless the window starts then.
  assert.equal(both(fixed, 20), [1000, 2000]);
  assert.equal(both(bucket, 8), [1333, 2666]);
});

test('the most time until permits are free after those of other clients', () => {
  const limits = [sliding, slots, fixed, bucket];
  const most = (permits: number[]) => limits.map((limit, i) => mostUntilFree([limit], [permits[i]]));
  assert.equal(most([1, 10, 1, 5]), [1001, 1300, 1000, 1667]);
  assert.equal(most([0, 0, 0, 0]), [0, 0, 0, 0]);
  assert.is(mostUntilFree(limits, [1, 10, 1, 5]), 1667);
  // A log of many entries is rounded up to a thousandth of its interval, or to its resolution if that is longer.
  const long = [1, 100].map((resolution) => slidingWindow({ permits: 3000, interval: 60_000, resolution }));
  assert.equal(
    long.map((limit) => mostUntilFree([limit], [1])),
    [60_060, 60_100],
  );
});

test.run();
