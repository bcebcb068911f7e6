// Sliding windows of so many permits that those of a few reservations have no exact sum.
import * as assert from 'uvu/assert';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

inEachTwin('vast windows', (test, { fleet }) => {
  test('a request stays queued if the sum of the reserved permits would not be exact', async () => {
    const permits = 2 ** 48;
    const clients = await fleet({ kind: 'slidingWindow', permits, interval: 1, resolution: 1 });
    const reply = await clients.reserve(0, 1, { count: 40, permits, horizon: 60 });
    // 32 windows have 2^53 permits, too many by one.
    assert.equal(
      moments(reply),
      Array.from({ length: 31 }, (_, i) => i),
    );
    assert.equal(moments(await clients.reserve(0, 2, { permits, horizon: 60 })), []);
    assert.equal(moments(await clients.reserve(2, 2, { permits, horizon: 60 })), [31]);
  });

  test('of small requests, as many are reserved as have an exact sum', async () => {
    const clients = await fleet({ kind: 'slidingWindow', permits: 2 ** 49, interval: 1, resolution: 1 });
    const reserve = async (held: number) => {
      const { segments } = await clients.reserve(0, 1, { count: 2 ** 52, held, horizon: 60 });
      return segments.filter(({ delay }) => delay >= 0).reduce((sum, { count }) => sum + count, 0);
    };
    assert.is(await reserve(0), 2 ** 52);
    // Eight windows are reserved.
    assert.is(await reserve(8), 2 ** 52 - 1);
  });
});
