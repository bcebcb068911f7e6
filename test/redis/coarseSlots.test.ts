// A sliding window with slots of seconds: of a slot, the log tells only its end. A comparison of the twins does not detect a
// fault in both.
import * as assert from 'uvu/assert';
import { outcome } from '../../src/stores/store.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

inEachTwin('coarse slots', (test, { fleet }) => {
  for (const resolution of [6000, 30_000]) {
    const limit = { kind: 'slidingWindow', permits: 10, interval: 60_000, resolution } as const;

    /**
     * A client that has used all permits at 5000, cancelled the reservation behind them, and refunded three of them at 6000. For
     * both resolutions, a slot ends at 10,000 and one at 70,000.
     */
    const cancelled = async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(5000, 1, { count: 10 });
      assert.equal(moments(await clients.reserve(5500, 1, { permits: 3 })), [70_000]);
      await clients.refund(6000, 1, { moment: 70_000, epoch, count: 1, permits: 3 });
      await clients.refund(6000, 1, { moment: 5000, epoch, count: 3 }, 2);
      return { clients, epoch };
    };

    test(`a cancelled reservation leaves the permits free that are: ${resolution} ms`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(5000, 1, { count: 7 });
      assert.equal(moments(await clients.reserve(5500, 1, { permits: 5 })), [70_000]);
      await clients.refund(6000, 1, { moment: 70_000, epoch, count: 1, permits: 5 });
      assert.equal(await clients.peek(6000), [3]);
      assert.equal(moments(await clients.reserve(6000, 2)), [6000]);
      assert.is(await clients.decide(6000, 3), true);
      await clients.release(6100, 1, 8, 2);
      assert.equal(await clients.peek(6100), [9]);
    });

    test(`a permit that was granted meanwhile stays the newest: ${resolution} ms`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(5000, 1, { count: 5 });
      // Both wait for the end of the slot, and the second one is before the first one's.
      assert.equal(moments(await clients.reserve(5500, 1, { permits: 6 })), [70_000]);
      assert.equal(moments(await clients.reserve(5600, 2)), [70_000]);
      await clients.refund(5700, 1, { moment: 5000, epoch, count: 2 }, 2);
      const [gap] = moments(await clients.reserve(5800, 3));
      assert.is(gap, 5800);
      await clients.refund(6000, 1, { moment: 70_000, epoch, count: 1, permits: 6 }, 3);
      await clients.refund(6000, 2, { moment: 70_000, epoch, count: 1 });
      // 3 of 5000, and 1 of 5800.
      assert.equal(await clients.peek(6000), [6]);
    });

    test(`after a cancelled reservation, nobody waits for the end of a slot of ${resolution} ms`, async () => {
      const { clients, epoch } = await cancelled();
      assert.equal(moments(await clients.reserve(6000, 1, { epoch, count: 3 })), [6000, 6000, 6000]);
      assert.equal(moments(await clients.reserve(6000, 1, { epoch })), [70_000]);
    });

    test(`nor does a request that does not wait: ${resolution} ms`, async () => {
      const { clients } = await cancelled();
      const granted = await clients.reserve(6000, 1, { count: 0, hasty: 2 });
      assert.equal(moments(granted), [6000, 6000]);
      assert.is(await clients.decide(6000, 1), true);
      assert.is(await clients.decide(6000, 1), false);
    });

    test(`a client learns that only its own reservation is in its way: ${resolution} ms`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(5000, 1, { count: 10 });
      assert.equal(moments(await clients.reserve(66_000, 2, { count: 2 })), [70_000, 70_000]);
      const own = { moment: 70_000, epoch };
      const asked = { count: 2, earlier: true, held: 12_000, last: own, epoch, maxWait: 3000 };
      const replyTo = async (at: number) => (await clients.reserve(at, 2, asked)).segments;
      assert.equal(await replyTo(66_100), [{ count: 2, delay: outcome.queued, retryAfter: 0 }]);
      await clients.refund(66_200, 1, { moment: 5000, epoch, count: 1 });
      assert.equal(await replyTo(66_300), [{ count: 2, delay: outcome.movesUp, retryAfter: Infinity }]);
      await clients.refund(66_300, 2, { ...own, count: 2 });
      assert.equal(moments(await clients.reserve(66_300, 2, { count: 2, epoch })), [66_300, 70_000]);
    });

    test(`a reservation that may lie in the slot keeps its place: ${resolution} ms`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(5000, 1, { count: 10 });
      assert.equal(moments(await clients.reserve(66_000, 2)), [70_000]);
      await clients.refund(66_100, 1, { moment: 5000, epoch, count: 3 });
      assert.is(await clients.decide(66_200, 3), false);
      assert.equal(moments(await clients.reserve(66_200, 3, { count: 0, hasty: 1 })), []);
      assert.equal(moments(await clients.reserve(66_200, 3)), [70_000]);
    });
  }

  const rate = { permits: 10, interval: 60_000 };
  const others: LimitSpec[] = [
    { kind: 'slidingWindow', ...rate, resolution: 1 },
    { kind: 'fixedWindow', ...rate, align: 'first' },
    { kind: 'tokenBucket', ...rate, burst: 10 },
  ];
  for (const limit of others)
    test(`a client is not sent to ask again in vain: ${limit.kind}`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(0, 1, { count: 10 });
      const [moment] = moments(await clients.reserve(10, 1));
      const asked = { earlier: true, held: 6000, last: { moment, epoch }, epoch };
      const { segments } = await clients.reserve(1510, 1, asked);
      assert.equal(segments, [{ count: 1, delay: outcome.queued, retryAfter: 0 }]);
    });
});
