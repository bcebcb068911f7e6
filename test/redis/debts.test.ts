// How an excess of `settle` is charged. A comparison of the twins does not detect a fault in both.
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

const rate = { permits: 10, interval: 1000 };
const sliding: LimitSpec = { kind: 'slidingWindow', ...rate, resolution: 1 };
const fixed: LimitSpec = { kind: 'fixedWindow', ...rate, align: 'first' };
const bucket: LimitSpec = { kind: 'tokenBucket', ...rate, burst: 10 };

const slow = { permits: 10, interval: 6000 };
/** Limits whose permits are far apart; the moments of six permits behind a debt of ten of which five are free, and of two behind one of nineteen of a higher rate. */
const stands: Record<string, [LimitSpec, number[], number[]]> = {
  'a sliding window': [{ ...sliding, ...slow }, [6100, 6100, 6100, 6100, 6100, 12_000], [6000, 6100]],
  'a fixed window': [{ ...fixed, ...slow }, [6000, 6000, 6000, 6000, 6000, 12_000], [6000, 6000]],
  'a token bucket': [{ ...bucket, ...slow }, [4200, 4800, 5400, 6000, 6600, 7200], [6350, 6650]],
};

inEachTwin('debts', (test, { fleet }) => {
  test('a debt is charged at once from free permits, and up to a thousand bursts', async () => {
    const clients = await fleet(bucket);
    await clients.owe(0, 1, 4);
    assert.equal(await clients.peek(0), [6]);
    const others = await fleet(bucket);
    await others.owe(0, 1, 20_000);
    assert.equal(moments(await others.reserve(0, 1)), [999_100]);
  });

  test('a debt takes the free permits of a sliding window, then each permit as it leaves the window', async () => {
    const clients = await fleet(sliding);
    await clients.reserve(0, 1, { count: 4 });
    await clients.reserve(500, 1, { count: 4 });
    // 2 at 600, 4 at 1000 and 3 at 1500.
    await clients.owe(600, 1, 9);
    assert.equal(moments(await clients.reserve(600, 1, { count: 4 })), [1500, 1600, 1600, 2000]);
  });

  test('a debt takes the rest of a fixed window, and then of the next', async () => {
    const clients = await fleet(fixed);
    await clients.reserve(0, 1, { count: 6 });
    // 4 in the first window, and 8 in the second.
    await clients.owe(600, 1, 12);
    assert.equal(moments(await clients.reserve(600, 1, { count: 3 })), [1000, 1000, 2000]);
  });

  test('a debt of many windows is charged in parts that leave little of them unused', async () => {
    const clients = await fleet(sliding);
    for (let i = 0; i < 10; i++) await clients.reserve(100 * i, 1);
    // One permit at each tenth of a second from 1000 on.
    await clients.owe(950, 1, 45);
    assert.equal(moments(await clients.reserve(950, 1, { count: 2 })), [5500, 5600]);
  });

  test('a debt is charged in about a hundred parts, each an entry of the log', async () => {
    const clients = await fleet({ ...sliding, permits: 1000 });
    for (let i = 0; i < 500; i++) await clients.reserve(i, 1, { count: 2 });
    // Parts of 10 permits: 10 are free at 1004, ten more at 1009, and so on.
    await clients.owe(600, 1, 1000);
    const taken = moments(await clients.reserve(600, 1, { count: 11 }));
    assert.equal(taken, [...new Array(10).fill(2004), 2009]);
  });

  test('of debts of many clients, so many permits are charged that sums stay exact', async () => {
    const clients = await fleet({ ...sliding, permits: 2 ** 50, interval: 7 });
    for (let client = 1; client <= 10; client++) await clients.owe(0, client, 2 ** 53 - 1);
    // Four windows.
    assert.equal(moments(await clients.reserve(0, 1)), [28]);
    assert.equal(await clients.peek(28), [2 ** 50 - 1]);
  });

  for (const [kind, [limit, expected]] of Object.entries(stands))
    test(`a debt that is charged among reservations is charged again when these are void: ${kind}`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(0, 1, { count: 10 });
      // Behind the whole limit, a reservation, the debt, and another reservation.
      await clients.reserve(10, 1);
      await clients.owe(20, 1, 10);
      await clients.reserve(30, 1);
      await clients.refund(100, 1, { moment: 0, epoch, count: 5 }, 2);
      assert.equal(moments(await clients.reserve(100, 1, { count: 6 })), expected);
    });

  test('a debt that was charged in part before the reservations that are void is not charged twice', async () => {
    const clients = await fleet({ ...sliding, interval: 6000 });
    const { epoch } = await clients.reserve(0, 1, { count: 5 });
    await clients.reserve(5000, 1, { count: 5 });
    // 5 at 6000, in less than two seconds, 5 at 11000, and 2 at 12000.
    await clients.owe(5000, 1, 12);
    await clients.reserve(5001, 1);
    await clients.refund(5100, 1, { moment: 0, epoch, count: 3 }, 2);
    // Those of 6000 stand, so that no more are free before 11000.
    const moved = moments(await clients.reserve(5100, 1, { count: 4 }));
    assert.equal(moved, [12_000, 12_000, 12_000, 17_000]);
  });

  test('a debt that a void moment divides is charged again from that moment on, without the reservations behind it', async () => {
    const clients = await fleet({ ...sliding, interval: 6000 });
    await clients.reserve(0, 1, { count: 5 });
    const { epoch } = await clients.reserve(5000, 1, { count: 5 });
    // 5 at 6000, 5 at 11000, and 5 at 12000, behind which 3 are reserved.
    await clients.owe(5000, 1, 15);
    await clients.reserve(5001, 1, { count: 3 });
    await clients.refund(9500, 1, { moment: 5000, epoch, count: 1 }, 2);
    assert.equal(moments(await clients.reserve(9500, 1, { count: 6 })), [
      ...new Array(5).fill(17_000),
      18_000,
    ]);
  });

  test('a debt stays when reservations are void again and again', async () => {
    const clients = await fleet({ ...sliding, interval: 60_000 });
    const { epoch } = await clients.reserve(0, 1, { count: 10 });
    await clients.owe(0, 1, 10);
    for (let i = 0; i < 10; i++) {
      await clients.reserve(1000 * i + 10, 1);
      await clients.refund(1000 * i + 20, 1, { moment: 0, epoch, count: 1 }, i + 2);
    }
    // The debt took all that was refunded, one by one.
    const last = await clients.reserve(10_000, 1, { count: 2 });
    assert.equal(moments(last), [60_020, 61_020]);
  });

  for (const [kind, [limit, , changed]] of Object.entries(stands))
    test(`a debt stands when the rate is changed: ${kind}`, async () => {
      const clients = await fleet(limit);
      await clients.reserve(0, 1, { count: 10 });
      await clients.reserve(10, 1);
      await clients.owe(20, 1, 19);
      await clients.reserve(30, 1);
      await clients.setRate(100, 1, { ...limit, permits: 20 } as LimitSpec);
      assert.equal(moments(await clients.reserve(100, 1, { count: 2 })), changed);
    });

  test('of more than eight debts among reservations, none is forgotten', async () => {
    const clients = await fleet({ ...sliding, permits: 40, interval: 60_000 });
    const { epoch } = await clients.reserve(0, 1, { count: 4 });
    for (let i = 1; i < 10; i++) await clients.reserve(i, 1, { count: 4 });
    for (let i = 0; i < 12; i++) {
      await clients.owe(10, 1, 2, i + 1);
      await clients.reserve(10, 1);
    }
    // 38 are taken, and the debts are charged again: one now, and 23 as those leave the window.
    await clients.refund(100, 1, { moment: 0, epoch, count: 1 }, 20);
    assert.equal(moments(await clients.reserve(100, 1, { count: 18 })).slice(-3), [60_009, 60_100, 120_000]);
  });

  test('permits that come back to a fixed window are granted before a debt of the next one', async () => {
    const clients = await fleet(fixed);
    const { epoch } = await clients.reserve(0, 1, { count: 10 });
    await clients.owe(10, 1, 5);
    await clients.refund(20, 1, { moment: 0, epoch, count: 3 }, 2);
    assert.equal(moments(await clients.reserve(20, 1, { count: 9 })), [
      20,
      20,
      20,
      ...new Array(5).fill(1000),
      2000,
    ]);
  });
});
