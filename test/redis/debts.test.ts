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

  const shared: Record<string, LimitSpec> = {
    'a sliding window': sliding,
    'a sliding window of coarse slots': { ...sliding, resolution: 5 },
    'a fixed window': fixed,
  };
  for (const [kind, limit] of Object.entries(shared))
    test(`reservations at the last moment of a debt that is partly due do not count as debt: ${kind}`, async () => {
      const step = limit.kind === 'slidingWindow' ? limit.resolution : 1;
      const clients = await fleet({ ...limit, permits: 20, interval: 5000 });
      // 20 at 0, 20 at 5000, and 15 at 10000, where 5 are reserved.
      await clients.owe(0, 1, 55);
      assert.equal(moments(await clients.reserve(2500, 1, { count: 5 })), new Array(5).fill(10_000));
      await clients.setRate(3001, 1, { ...limit, permits: 20, interval: 5000 + step });
      const taken = moments(await clients.reserve(3002, 1, { count: 6 }));
      assert.equal(taken, [...new Array(5).fill(10_000 + step), 15_000 + 2 * step]);
    });

  for (const [kind, limit] of Object.entries({ 'a sliding window': sliding, 'a fixed window': fixed }))
    test(`reservations between two debts of one moment are not charged again: ${kind}`, async () => {
      const clients = await fleet({ ...limit, permits: 20, interval: 5000 });
      await clients.reserve(0, 1, { count: 20 });
      await clients.owe(2, 1, 30);
      // At 10000, beside 10 of the debt.
      await clients.reserve(4, 1, { count: 5 });
      await clients.owe(5, 1, 25, 3);
      await clients.setRate(5100, 1, { ...limit, permits: 20, interval: 5005 });
      const taken = moments(await clients.reserve(5101, 1, { count: 25 }));
      // Of the 55, 20 are due at 5000: 35 stand in the two windows from 10000 on.
      assert.equal([taken[0], taken[24]], [15_010, 20_015]);
    });

  test('a debt that begins in the window in which another one ends is charged again with it', async () => {
    const of20 = { ...fixed, permits: 20, interval: 5000 };
    const clients = await fleet(of20);
    await clients.reserve(0, 1, { count: 20 });
    await clients.owe(1, 1, 25);
    await clients.pause(20, 1, 10_280);
    await clients.reserve(21, 1, { count: 3 });
    await clients.owe(22, 1, 10, 2);
    await clients.setRate(100, 1, { ...of20, interval: 5005 });
    const taken = moments(await clients.reserve(10_310, 1, { count: 30 }));
    // 35 are charged before.
    assert.is(taken.filter((moment) => moment < 15_010).length, 5);
  });

  test('of many debts among reservations, those that are due do not count', async () => {
    const clients = await fleet({ ...sliding, permits: 20, interval: 5000 });
    await clients.reserve(0, 1, { count: 20 });
    for (let i = 0; i < 12; i++) {
      await clients.owe(1, 1, 20, i + 1);
      await clients.reserve(2, 1, { count: 20 });
    }
    // 20 at 95000, and two debts of 20 behind that: instead of those at 105000 and 115000.
    await clients.setRate(97_000, 1, { ...sliding, permits: 20, interval: 5001 });
    assert.equal(moments(await clients.reserve(97_001, 1)), [109_992]);
  });

  for (const behind of [0, 1])
    test(`a debt of a bucket stands, although another one is charged before it, with ${behind} reservations behind it`, async () => {
      const of200 = { ...bucket, permits: 200, interval: 5000, burst: 200 };
      const clients = await fleet(of200);
      const { epoch } = await clients.reserve(0, 1, { count: 200 });
      await clients.reserve(1, 2);
      await clients.reserve(1, 1, { epoch });
      await clients.owe(2, 1, 2000);
      if (behind > 0) await clients.reserve(3, 2, { count: behind });
      for (let i = 0; i < 4; i++) await clients.refund(10, 1, { moment: 0, epoch, count: 50 }, 2 + i);
      await clients.owe(11, 1, 1, 9);
      await clients.setRate(100, 1, { ...of200, interval: 5001 });
      const [moment] = moments(await clients.reserve(101, 1));
      // 2001 permits and two requests, each 25 ms, from which 4 s were refunded.
      assert.ok(moment > 46_000, `${moment}`);
    });

  test('of a debt in a record, what stays charged for the sake of another limit is remembered', async () => {
    const slower: LimitSpec = { ...fixed, interval: 30_000 };
    const clients = await fleet([sliding, slower]);
    const { epoch } = await clients.reserve(0, 1, { count: 5 });
    await clients.owe(1, 1, 100, 1, true);
    await clients.reserve(2, 1);
    await clients.owe(3, 1, 400, 2, true);
    await clients.refund(110, 1, { moment: 0, epoch, count: 1 }, 3);
    await clients.setRate(200, 1, [sliding, { ...slower, permits: 11 }]);
    assert.is(await clients.keptUntil(201), 51_000);
  });

  test('a log of many debts is charged again, and a rate stored, with no more steps than a call may take', async () => {
    const limit = { ...sliding, permits: 1000, interval: 60_000, resolution: 60 };
    const clients = await fleet(limit);
    let epoch = 0;
    for (let i = 0; i < 100; i++) ({ epoch } = await clients.reserve(600 * i, 1, { count: 10 }));
    for (let i = 0; i < 90; i++) await clients.owe(59_900 + i, 1, 500, i + 1);
    const before = await clients.keptUntil(60_000);
    assert.ok(await clients.refund(60_100, 1, { moment: 600, epoch, count: 1 }, 100));
    await clients.setRate(61_000, 1, { ...limit, interval: 60_001 });
    const after = await clients.keptUntil(61_001);
    assert.ok(after >= before - 60_000, `${after - before}`);
  });

  const ahead: Record<string, LimitSpec> = {
    'a sliding window': { ...sliding, ...slow },
    'a fixed window': { ...fixed, ...slow },
    'a fixed window on the clock': { ...fixed, ...slow, align: 'epoch' },
  };
  for (const [kind, limit] of Object.entries(ahead)) {
    // Of the test's time, a window on the clock of six seconds ends here.
    const end = limit.kind === 'fixedWindow' && limit.align === 'epoch' ? 4000 : 6000;

    test(`a debt behind a reservation that is cancelled is charged again, so that it blocks no interval: ${kind}`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(0, 1, { count: 10 });
      assert.is(moments(await clients.reserve(10, 1, { count: 10 }))[9], end);
      await clients.owe(50, 1, 1);
      await clients.refund(100, 1, { moment: end, epoch, count: 10 }, 2);
      await clients.finish(105, 1);
      assert.equal(moments(await clients.reserve(110, 2)), [end]);
      assert.equal(await clients.peek(end), [8]);
      assert.equal(
        moments(await clients.reserve(end, 1, { count: 9 })).map((moment) => moment > end),
        [...new Array(8).fill(false), true],
      );
    });

    test(`a debt is charged again for what is refunded in the millisecond of its grant: ${kind}`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(0.25, 1, { count: 10 });
      await clients.owe(0.5, 1, 1);
      await clients.refund(0.75, 1, { moment: 1, epoch, count: 5 }, 2);
      assert.equal(await clients.peek(1), [4]);
    });
  }

  test('permits that are cancelled before a debt of a fixed window within two seconds are granted before it', async () => {
    const clients = await fleet(fixed);
    const { epoch } = await clients.reserve(0, 1, { count: 10 });
    await clients.reserve(10, 1, { count: 10 });
    await clients.owe(50, 1, 1);
    await clients.owe(300, 1, 1, 2);
    await clients.refund(400, 1, { moment: 1000, epoch, count: 10 }, 3);
    // No more than were refunded.
    const taken = moments(await clients.reserve(1100, 1, { count: 11 }));
    assert.equal(taken, [...new Array(10).fill(1100), 2000]);
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
