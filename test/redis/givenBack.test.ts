// How refunds reach waiting requests. A comparison of the twins does not detect a fault in both.
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments, type TimedFleet } from './timedFleet.ts';

const bucket: LimitSpec = { kind: 'tokenBucket', permits: 10, interval: 1000, burst: 10 };
const window: LimitSpec = { kind: 'slidingWindow', permits: 10, interval: 1000, resolution: 1 };
const slow: LimitSpec = { kind: 'slidingWindow', permits: 1, interval: 1000, resolution: 1 };

inEachTwin('given back', (test, { fleet }) => {
  /** Two waiting clients: the second has reservations for 1600, 1700 and so on to 2000. */
  async function twoWaiting(): Promise<{ clients: TimedFleet; epoch: number }> {
    const clients = await fleet(bucket);
    const { epoch } = await clients.reserve(0, 1, { count: 10 });
    // A request for the full bucket, which is never full again.
    await clients.reserve(0, 1, { count: 1, permits: 10 });
    await clients.reserve(0, 1, { count: 5 });
    assert.equal(moments(await clients.reserve(1000, 2, { count: 5 })), [1600, 1700, 1800, 1900, 2000]);
    return { clients, epoch };
  }

  test('a rate without the earlier grants restores none of them, even if the clock of the server goes back', async () => {
    const clients = await fleet(window);
    await clients.setRate(10_000, 1, window, false);
    const { epoch } = await clients.reserve(10_000, 1, { count: 10 });
    await clients.forget(10_000, 1);
    await clients.setRate(9_500, 1, window, false);
    assert.equal(moments(await clients.reserve(9_500, 2, { count: 10 })), Array(10).fill(9_500));
    await clients.refund(9_500, 1, { moment: 9_500, epoch, count: 10 });
    assert.equal(await clients.peek(9_500), [0]);
  });

  test('the refill that a bucket loses during a pause is not charged under another rate', async () => {
    const clients = await fleet({ ...bucket, permits: 100, burst: 1 });
    await clients.reserve(0, 1);
    await clients.pause(0, 1, 60_000);
    const { epoch } = await clients.reserve(1000, 1);
    await clients.setRate(1000, 1, { ...bucket, permits: 1, burst: 1 });
    assert.equal(moments(await clients.reserve(2000, 1, { epoch, count: 2 })), [60_000, 61_000]);
  });

  test('the refill that a fast bucket loses during a long pause is counted', async () => {
    // 100 Gbit/s. In two days, that is more than the largest moment that a ledger accepts.
    const days = 172_800_000;
    const clients = await fleet({ ...bucket, permits: 12.5e9, burst: 1e10 });
    await clients.pause(0, 1, days);
    assert.equal(moments(await clients.reserve(0, 1, { permits: 1e10 })), [days]);
    assert.equal(moments(await clients.reserve(1, 1, { permits: 1e10 })), [days + 799]);
  });

  test('a refunded reservation before the newest goes to the next request of its cost', async () => {
    const { clients, epoch } = await twoWaiting();
    await clients.refund(1000, 2, { moment: 1700, epoch, count: 1 });
    assert.equal(moments(await clients.reserve(1000, 4, { permits: 2 })), [2200]);
    assert.equal(moments(await clients.reserve(1000, 3, { count: 2 })), [1700, 2300]);
  });

  const rate = { permits: 5, interval: 60_000 };
  const halfTaken: [kind: string, limit: LimitSpec, large: number][] = [
    ['a bucket', { kind: 'tokenBucket', ...rate, burst: 5 }, 4],
    ['a window, at the moment of the others', { kind: 'slidingWindow', ...rate, resolution: 60 }, 4],
    ['a window, in front of the others', { kind: 'slidingWindow', ...rate, resolution: 60 }, 5],
    ['a fixed window', { kind: 'fixedWindow', ...rate, align: 'first' }, 4],
  ];
  for (const [kind, limit, large] of halfTaken)
    test(`the permits that were free before a refunded large reservation are granted at once: ${kind}`, async () => {
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(0, 1, { count: 2 });
      const [moment] = moments(await clients.reserve(0, 2, { permits: large }));
      const [behind] = moments(await clients.reserve(0, 1));
      assert.ok(behind >= moment && moment >= 12_000);
      await clients.refund(100, 2, { moment, epoch, count: 1, permits: large });
      await clients.finish(100, 2);
      const last = { moment: behind, epoch };
      const reply = await clients.reserve(1500, 1, { earlier: true, held: 12_000, last, epoch, horizon: 20 });
      // The reservation is void, or comes forward.
      const now =
        reply.voidAfter === undefined ? reply : await clients.reserve(1500, 1, { epoch: reply.epoch });
      assert.equal(moments(now), [1500]);
      assert.equal(moments(await clients.reserve(1500, 1, { count: 2, hasty: 0 })).slice(0, 1), [1500]);
    });

  test('at most 32 refunded reservations before the newest are remembered', async () => {
    const clients = await fleet(bucket);
    const { epoch } = await clients.reserve(0, 1, { count: 60 });
    await clients.reserve(0, 2);
    for (let i = 1; i <= 33; i++) await clients.refund(0, 1, { moment: 100 * i, epoch, count: 1 }, i);
    const taken = moments(await clients.reserve(0, 3, { count: 33 }));
    assert.equal(
      taken.slice(0, 32),
      Array.from({ length: 32 }, (_, i) => 100 * (i + 1)),
    );
    assert.ok(taken[32] > 4900, `the last one at ${taken[32]}`);
  });

  test('of further refunded reservations, the permits come back, though not at their moments', async () => {
    const clients = await fleet(bucket);
    const { epoch } = await clients.reserve(0, 1, { count: 60 });
    await clients.reserve(0, 2);
    for (let i = 1; i <= 40; i++) await clients.refund(0, 1, { moment: 100 * i, epoch, count: 1 }, i);
    const taken = moments(await clients.reserve(0, 3, { count: 60 }));
    assert.ok(taken[32] > 4000, `the first of the others at ${taken[32]}`);
    // Of the bucket's 81 permits until then, 21 are those of the first two clients that were not refunded.
    assert.is(taken[59], 7100);
  });

  test('a release takes nothing from a refunded reservation that the next request reuses', async () => {
    const clients = await fleet({ ...window, permits: 4, interval: 3 });
    assert.equal(moments(await clients.reserve(0, 1, { count: 3, permits: 2 })), [0, 0, 3]);
    // In the middle of a millisecond: the moment of an immediate grant is rounded up.
    const reply = await clients.reserve(3.5, 2, { count: 3 });
    assert.equal(moments(reply), [4, 4, 6]);
    await clients.refund(3.5, 2, { moment: 4, epoch: reply.epoch, count: 2 });
    await clients.release(3.5, 3, 1);
    // Available are the two refunded reservations for 4 and the released permit, each of them once.
    assert.equal(moments(await clients.reserve(3.5, 1, { count: 5 })), [4, 4, 4, 7, 7]);
  });

  test('a release takes the grants of a fixed window, and none of the reservations behind a pause', async () => {
    const clients = await fleet({ kind: 'fixedWindow', permits: 10, interval: 5000, align: 'first' });
    await clients.reserve(0, 1, { count: 4 });
    await clients.pause(0, 1, 1000);
    assert.equal(moments(await clients.reserve(100, 1, { count: 2 })), [1000, 1000]);
    await clients.release(200, 1, 9);
    assert.equal(await clients.peek(1000), [8]);
  });

  test('a release takes the grants of a bucket, and none of its reservations', async () => {
    const clients = await fleet({ ...bucket, permits: 2, burst: 2 });
    assert.equal(moments(await clients.reserve(0, 1, { count: 3 })), [0, 0, 500]);
    await clients.release(0, 1, 5);
    // Of the two that were granted, the reservation takes one.
    assert.equal(moments(await clients.reserve(0, 2)), [500]);
    assert.equal(await clients.peek(1000), [1]);
  });

  test('a refunded reservation that is not reused by its moment is restored', async () => {
    const { clients, epoch } = await twoWaiting();
    await clients.refund(1000, 2, { moment: 1700, epoch, count: 1 });
    // No reservation needs its permits any more.
    assert.equal(moments(await clients.reserve(1701, 3)), [1701]);
  });

  test('with the newest reservation, the refunded ones before it are restored', async () => {
    const { clients, epoch } = await twoWaiting();
    await clients.refund(1000, 2, { moment: 1900, epoch, count: 1 });
    await clients.refund(1000, 2, { moment: 2000, epoch, count: 1 }, 2);
    assert.equal(moments(await clients.reserve(1000, 3, { permits: 2 })), [2000]);
  });

  test('a reservation made under another rate is not reused', async () => {
    const clients = await fleet(window);
    const { epoch } = await clients.reserve(0, 1, { count: 20 });
    await clients.reserve(0, 2, { count: 5 });
    await clients.setRate(500, 3, slow);
    assert.is(await clients.refund(600, 1, { moment: 1000, epoch, count: 1 }), true);
    assert.ok(moments(await clients.reserve(600, 3))[0] > 2000);
  });

  test("no request is granted before its client's valid reservations", async () => {
    const { clients, epoch } = await twoWaiting();
    await clients.refund(1000, 2, { moment: 1700, epoch, count: 1 });
    const last = { moment: 1900, epoch };
    assert.equal(moments(await clients.reserve(1000, 2, { last })), [2100]);
    await clients.setRate(1000, 2, { ...bucket, burst: 1000 });
    await clients.setRate(1001, 2, { ...bucket, permits: 1000, burst: 1000 });
    const void5000 = { moment: 5000, epoch };
    assert.ok(moments(await clients.reserve(1001, 2, { last: void5000 }))[0] < 3000);
  });

  test('reservations move up for any refund, a tenth of a second after they last did', async () => {
    const clients = await fleet({ ...window, permits: 200, interval: 20_000 });
    const { epoch } = await clients.reserve(0, 1, { count: 201 });
    let sequence = 0;
    const afterRefund = async (at: number) => {
      await clients.refund(at, 2, { moment: 0, epoch, count: 1 }, ++sequence);
      return clients.reserve(at, 1, { count: 30, epoch });
    };
    const first = await afterRefund(1500);
    assert.ok(first.epoch > epoch);
    assert.is(first.voidAfter, 2000);
    // As many permits as reservations were moved for may be granted at once.
    assert.is(moments(await afterRefund(1599))[0], 1599);
    const later = await afterRefund(1599);
    assert.is(later.epoch, first.epoch);
    assert.ok(moments(later)[0] > 1599);
    assert.ok((await clients.reserve(1600, 1, { epoch })).epoch > first.epoch);
  });

  test('reservations in a fixed window that is used up do not move up: they would count in it until it ends', async () => {
    const rate = { permits: 16, interval: 5000 };
    const clients = await fleet([
      { kind: 'fixedWindow', ...rate, align: 'first' },
      { kind: 'slidingWindow', ...rate, resolution: 1 },
    ]);
    const { epoch } = await clients.reserve(0, 1, { count: 17 });
    const due: number[] = [];
    for (const client of [2, 3, 4, 5, 6, 7])
      due.push(...moments(await clients.reserve(0, client, { permits: 3, horizon: 1 })));
    assert.equal(due, [5000, 5750, 6500, 7250, 8000, 10_000]);
    await clients.refund(5001, 1, { moment: 5000, epoch, count: 1 });
    const { voidAfter } = await clients.reserve(5001, 7, { count: 0, epoch, held: 1 });
    assert.is(voidAfter, 4999);
    assert.equal(await clients.peek(9999), [1, 1]);
  });

  test('reservations in a fixed window that has permits to spare move up', async () => {
    const clients = await fleet([
      { kind: 'fixedWindow', permits: 100, interval: 8000, align: 'first' },
      { ...bucket, permits: 1, burst: 1 },
    ]);
    const { epoch } = await clients.reserve(0, 1);
    const due: number[] = [];
    for (const client of [2, 3, 4, 5]) due.push(...moments(await clients.reserve(0, client, { horizon: 1 })));
    assert.equal(due, [1000, 2000, 3000, 4000]);
    await clients.refund(1, 1, { moment: 0, epoch, count: 1 });
    const { voidAfter } = await clients.reserve(1, 5, { count: 0, epoch, held: 1 });
    assert.is(voidAfter, 2000);
  });

  test('a move at the change of a rate keeps what the old window has for two seconds later', async () => {
    const clients = await fleet({ kind: 'fixedWindow', permits: 2, interval: 1000, align: 'first' });
    // The last window is for 3000.
    await clients.reserve(1000, 1, { count: 3, permits: 2 });
    await clients.setRate(1000, 2, { kind: 'slidingWindow', permits: 7, interval: 3000, resolution: 1 });
    const reply = await clients.reserve(1000, 2, { count: 3, permits: 2 });
    assert.equal(moments(reply), [3000, 3000, 6000]);
    const { epoch } = reply;
    await clients.refund(1000, 2, { moment: 1000, epoch, count: 1, permits: 2 });
    const next = await clients.reserve(1000, 2, { count: 6 });
    assert.ok(next.epoch > epoch);
    // Six of the seven permits at 3000 are taken, two of them in the old window.
    assert.equal(moments(next).slice(0, 4), [3000, 6000, 6000, 6000]);
  });

  test('cancelled reservations leave a pace of a second at most, although most permits were refunded since', async () => {
    const clients = await fleet({ ...window, permits: 4, interval: 4000 });
    const { epoch } = await clients.reserve(0, 1, { count: 4 });
    const reserved: number[] = [];
    for (const client of [1, 2, 1, 2]) reserved.push(...moments(await clients.reserve(0, client)));
    assert.equal(reserved, [4000, 4000, 4800, 5600]);
    let sequence = 0;
    // The reservations are less than two seconds ahead, so they stand.
    const refund = (moment: number, count = 1) =>
      clients.refund(3990, 1, { moment, epoch, count }, ++sequence);
    await refund(3989, 90);
    for (const moment of reserved.slice(1).reverse()) await refund(moment);
    // The heartbeats of clients that still wait.
    const waits = { count: 0, held: 1000, last: { moment: 6000, epoch } };
    for (const client of [1, 2]) await clients.reserve(4000, client, waits);
    assert.is(await clients.decide(4900, 3), false);
    assert.is(await clients.decide(5100, 3), true);
  });

  test('permits that came back leave no gap in the pace, where their load is a rounded number of strides', async () => {
    const clients = await fleet({ kind: 'fixedWindow', permits: 68, interval: 8000, align: 'first' });
    const { epoch } = await clients.reserve(0, 1, { count: 68 });
    for (const client of [1, 2]) await clients.reserve(10, client, { count: 5, horizon: 20 });
    await clients.refund(1000, 1, { moment: 0, epoch, count: 3 });
    // Reservations move up, and the turns that begin with that end three seconds later.
    for (const client of [1, 2]) await clients.reserve(1001, client, { count: 30, horizon: 20 });
    for (const client of [1, 2]) await clients.reserve(2900, client, { count: 5, horizon: 5000 });
    // The first reservations do not move the frontier. In floating point, their strides exceed the load that came back.
    const reply = await clients.reserve(4500, 1, { count: 9, horizon: 5000 });
    assert.equal(moments(reply), [...Array(6).fill(8000), 8070, 8141, 8211]);
    assert.equal(moments(await clients.reserve(4500, 2, { count: 2, horizon: 5000 })), [8282, 8369]);
  });

  test('at higher rates, reservations move up for any refund', async () => {
    const clients = await fleet({ ...window, permits: 1000, interval: 20_000 });
    const { epoch } = await clients.reserve(0, 1, { count: 1001 });
    await clients.reserve(0, 2);
    await clients.refund(10, 1, { moment: 0, epoch, count: 1 });
    assert.ok((await clients.reserve(10, 2)).epoch > epoch);
  });

  for (const [count, when, spacing] of [
    [2, 'soon', 96],
    // Permits come back for 0.1, 0.18, 0.26, 0.34 and 0.42 of the interval, but count as a fifth at least: as 0.4, and as 1.42.
    [2, 'late', 147],
    [5, 'late', 114],
  ] as const)
    test(`the pace counts the part that is likely not to be refunded: ${5 - count} of 5, ${when}`, async () => {
      const clients = await fleet({ ...window, interval: 2000 });
      const { epoch } = await clients.reserve(0, 1, { count: 11 });
      await clients.reserve(0, 2, { count: 5 });
      for (let i = 0; i < count; i++) {
        const moment = 2000 + 160 * i;
        // Up to a tenth of the interval after its grant, a refund is not late.
        await clients.refund(when === 'soon' ? moment + 200 : 3800, 2, { moment, epoch, count: 1 }, i + 1);
      }
      // The first grant starts the pace; refunded permits are granted without it.
      const taken = moments(await clients.reserve(3800, 3, { count: count + 2 }));
      assert.equal(taken, [...new Array(count + 1).fill(3800), 3800 + spacing]);
    });

  test('clients that wait in order keep the pace if permits come back soon', async () => {
    const clients = await fleet({ ...window, interval: 2000 });
    const { epoch } = await clients.reserve(0, 1, { count: 11 });
    await clients.reserve(0, 2, { count: 5 });
    for (const i of [0, 1, 2])
      await clients.refund(2200 + 160 * i, 2, { moment: 2000 + 160 * i, epoch, count: 1 }, i + 1);
    const taken = moments(await clients.reserve(3800, 3, { count: 5 }));
    assert.equal(taken, [3800, 3800, 3800, 3800, 3864]);
  });

  for (const [permits, count, refunded, spacing] of [
    // Each request has a load of 10 ms: 250 of 1000, and after halving 250 of 505.
    [100, 100, 25, 6],
    [100, 101, 25, 4],
    // Each has a load of 100 ms: 400 of 1600, and after halving 400 of 850.
    [10, 16, 4, 60],
    [10, 17, 4, 42],
  ])
    test(`the refunded part is measured over the last second, and over 16 requests at least: ${count} at ${permits}/s`, async () => {
      const clients = await fleet({ ...window, permits });
      const { epoch } = await clients.reserve(0, 1, { count: permits + 1 });
      const paced = moments(await clients.reserve(0, 2, { count }));
      const at = paced[count - 1] + 100;
      for (const [i, moment] of paced.slice(-refunded).entries())
        await clients.refund(moment + 100, 2, { moment, epoch, count: 1 }, i + 1);
      // The first grant starts the pace; refunded permits are granted without it.
      const next = moments(await clients.reserve(at, 3, { count: refunded + 2 }));
      assert.is(next[refunded + 1] - next[refunded], spacing);
    });

  for (const [kind, age, spacing] of [
    ['fixedWindow', 330, 81],
    // Later than a third of the interval.
    ['fixedWindow', 340, 41],
    ['slidingWindow', 340, 83],
  ] as const)
    test(`grants of a ${kind} of which permits came back after ${age} ms are ${spacing} ms apart`, async () => {
      const fixed: LimitSpec = { kind: 'fixedWindow', permits: 8, interval: 1000, align: 'epoch' };
      const clients = await fleet(kind === 'fixedWindow' ? fixed : { ...window, permits: 8 });
      const { epoch } = await clients.reserve(0, 1, { count: 9 });
      assert.equal(moments(await clients.reserve(0, 2, { count: 4 })), [1000, 1100, 1200, 1300]);
      await clients.refund(1000 + age, 2, { moment: 1000, epoch, count: 1 });
      const next = moments(await clients.reserve(1000 + age, 3, { count: 4 }));
      assert.is(next[2] - next[1], spacing);
    });

  test('if the newest reservation is refunded, the next request takes its place in the pace', async () => {
    const clients = await fleet(window);
    const { epoch } = await clients.reserve(0, 1, { count: 11 });
    const reserved = moments(await clients.reserve(0, 2, { count: 5 }));
    assert.is(reserved[4], 1320);
    await clients.refund(100, 2, { moment: 1320, epoch, count: 1 });
    assert.equal(moments(await clients.reserve(100, 3, { count: 1 })), [1320]);
  });

  test('a grant made before a change of the rate can be refunded after it', async () => {
    const clients = await fleet(window);
    const { epoch } = await clients.reserve(0, 1, { count: 10 });
    await clients.setRate(500, 1, { ...window, permits: 20 });
    assert.is(await clients.refund(600, 1, { moment: 0, epoch, count: 3 }), true);
    assert.equal(await clients.peek(600), [13]);
  });

  for (const changed of [{ permits: 11 }, { burst: 31 }])
    test(`of a bucket, most of what was granted before a change can be refunded after it: ${JSON.stringify(changed)}`, async () => {
      const limit: LimitSpec = { ...bucket, burst: 30 };
      const clients = await fleet(limit);
      const { epoch } = await clients.reserve(0, 1, { count: 30 });
      // Another client takes what is refilled.
      for (let i = 1; i <= 20; i++) await clients.reserve(100 * i, 2);
      await clients.setRate(2000, 1, { ...limit, ...changed });
      await clients.refund(2001, 1, { moment: 0, epoch, count: 30 });
      const [free] = await clients.peek(2001);
      assert.ok(free >= 26 && free <= 30 + (changed.burst ?? 30) - 30, `${free}`);
    });

  test('of a bucket, most of what was granted before two rates came into force in turn can be refunded', async () => {
    const limit: LimitSpec = { ...bucket, burst: 30 };
    const clients = await fleet(limit);
    const { epoch } = await clients.reserve(0, 1, { count: 30 });
    for (let i = 1; i <= 20; i++) await clients.reserve(100 * i, 2);
    // As in a deployment during which some processes still have the former rate.
    for (let i = 0; i < 20; i++) await clients.setRate(2001 + i, 1, { ...limit, permits: 11 - (i % 2) });
    await clients.refund(2021, 1, { moment: 0, epoch, count: 30 });
    const [free] = await clients.peek(2021);
    assert.ok(free >= 26 && free <= 30, `${free}`);
  });

  test('the refill of a bucket before a change to another interval is rounded down', async () => {
    const limit: LimitSpec = { ...bucket, burst: 30 };
    const clients = await fleet(limit);
    const { epoch } = await clients.reserve(0, 1, { count: 30 });
    await clients.reserve(1000, 2, { count: 10 });
    await clients.setRate(2000, 1, { ...limit, interval: 500 });
    assert.equal(await clients.peek(2000), [10]);
    await clients.refund(2000, 1, { moment: 0, epoch, count: 30 });
    // Two units less than 20 permits came back.
    assert.equal(await clients.peek(2000), [29]);
  });

  for (const [title, before, restores] of [
    ['another interval', { interval: 500, align: 'epoch' }, false],
    ['another start', { interval: 1000, align: 'first' }, false],
    ['other permits', { interval: 1000, align: 'epoch' }, true],
  ] as const)
    test(`the grid of an aligned window restores no grants of another grid: after ${title}`, async () => {
      const clients = await fleet({ kind: 'fixedWindow', permits: 2, ...before });
      await clients.reserve(400, 1);
      const { epoch } = await clients.reserve(1100, 1);
      await clients.reserve(1500, 1);
      await clients.setRate(1500, 1, { kind: 'fixedWindow', permits: 1, interval: 1000, align: 'epoch' });
      // The second grant is counted only if it was made in the same window as the third.
      assert.is(await clients.refund(1500, 1, { moment: 1500, epoch, count: 1 }, 1), restores);
      assert.is(await clients.decide(1500, 2), false);
      assert.is(await clients.refund(1500, 1, { moment: 1100, epoch, count: 1 }, 2), restores);
      assert.is(await clients.decide(1500, 2), restores);
    });

  for (const align of ['first', 'epoch'] as const)
    test(`a window with more permits than a lower limit, and forgotten behind reservations, is not free after a refund: ${align}`, async () => {
      const lower: LimitSpec = { kind: 'fixedWindow', permits: 10, interval: 1000, align };
      const clients = await fleet({ ...lower, permits: 80 });
      const { epoch } = await clients.reserve(4000, 1, { count: 240 });
      await clients.setRate(4050, 1, lower);
      // The reservations for 6000 stand.
      const later = moments(await clients.reserve(4050, 1, { count: 170, epoch }));
      assert.equal([later[0], later[169]], [7000, 23_000]);
      // These are void.
      await clients.setRate(4060, 1, { ...lower, permits: 9 });
      assert.is(await clients.refund(4070, 1, { moment: 6000, epoch, count: 60 }, 2), true);
      assert.equal(await clients.peek(6000), [0]);
      await clients.setRate(6000, 1, { ...lower, permits: 30 });
      assert.equal(await clients.peek(6000), [10]);
    });

  test('a reservation for the moment from which they are void restores nothing, one before it does', async () => {
    const clients = await fleet(slow);
    const { epoch } = await clients.reserve(0, 1, { count: 4 });
    await clients.setRate(0, 1, { ...slow, permits: 2 });
    // They are void from 2000 on.
    assert.is(await clients.refund(100, 1, { moment: 2000, epoch, count: 1 }, 1), false);
    assert.is(await clients.refund(100, 1, { moment: 1000, epoch, count: 1 }, 2), true);
  });

  /**
   * Ten permits are granted, and `count` requests reserved, before the rate changes; then they are cancelled. Returns the moments
   * that the requests of another client get afterwards.
   */
  async function afterCancelled(limit: LimitSpec, changed: LimitSpec, count: number, newestFirst = true) {
    const clients = await fleet(limit);
    await clients.reserve(0, 1, { count: 10 });
    const reply = await clients.reserve(0, 1, { count });
    await clients.setRate(150, 2, changed);
    const ordered = newestFirst ? moments(reply).reverse() : moments(reply);
    for (const [i, moment] of ordered.entries())
      await clients.refund(200, 1, { moment, epoch: reply.epoch, count: 1 }, i + 1);
    await clients.finish(200, 1);
    return moments(await clients.reserve(300, 3, { count: 60 }));
  }

  const aligned: LimitSpec = { kind: 'fixedWindow', permits: 10, interval: 1000, align: 'epoch' };
  for (const [kind, limit, count] of [
    // Reservations for 1000 to 4000: from 2150 on, they are void.
    ['a sliding window', window, 35],
    ['a fixed window', { ...aligned, align: 'first' }, 35],
    ['a fixed window on the clock', aligned, 35],
    ['a token bucket', bucket, 35],
  ] as [string, LimitSpec, number][])
    for (const permits of [8, 15])
      test(`reservations that are cancelled after the rate has changed give back all that still counts: ${kind} of 10, then ${permits}`, async () => {
        const changed =
          limit.kind === 'tokenBucket' ? { ...limit, permits, burst: permits } : { ...limit, permits };
        const never = await afterCancelled(limit, changed, 0);
        assert.equal(await afterCancelled(limit, changed, count), never);
      });

  for (const permits of [5, 8, 15])
    for (const burst of [8, 10])
      test(`of a bucket whose rate has changed, reservations that are cancelled in their order leave no more charged than had been refilled: ${permits}, and a burst of ${burst}`, async () => {
        const changed: LimitSpec = { ...bucket, permits, burst };
        const never = await afterCancelled(bucket, changed, 0);
        const after = await afterCancelled(bucket, changed, 35, false);
        // In 150 ms at the old rate, and 50 at the new one.
        const refilled = 3;
        for (let i = 0; i + refilled < never.length; i++)
          assert.ok(after[i] <= never[i + refilled], `${after[i]}, not ${never[i + refilled]}`);
      });

  test('a void reservation restores nothing, even if its moment is reserved again', async () => {
    const clients = await fleet(slow);
    const { epoch } = await clients.reserve(0, 1, { count: 6 });
    await clients.setRate(500, 2, { ...slow, permits: 2 });
    assert.equal(moments(await clients.reserve(500, 3, { count: 3 })), [2000, 3000, 3400]);
    assert.is(await clients.refund(600, 1, { moment: 3000, epoch, count: 1 }), false);
  });

  test('a release takes nothing from a reservation of more permits than six bytes can count', async () => {
    const clients = await fleet({ kind: 'tokenBucket', permits: 2 ** 40, interval: 1, burst: 2 ** 50 });
    await clients.reserve(0, 1, { permits: 2 ** 50 });
    assert.equal(moments(await clients.reserve(0, 1, { permits: 2 ** 49 })), [512]);
    await clients.release(0, 1, 2 ** 51);
    assert.equal(await clients.peek(0), [0]);
  });

  test('after a step back of the clock, a window whose permits were refunded starts on the grid', async () => {
    const aligned: LimitSpec = { kind: 'fixedWindow', permits: 10, interval: 1000, align: 'epoch' };
    const clients = await fleet(aligned);
    const { epoch } = await clients.reserve(100, 1);
    // Keeps the ledger.
    await clients.setRate(100, 1, { ...aligned, permits: 20 });
    await clients.refund(100, 1, { moment: 100, epoch, count: 1 });
    assert.equal(moments(await clients.reserve(-200, 2)), [0]);
  });

  test('a grant since which the bucket was never nearly full is refunded in full', async () => {
    const clients = await fleet(bucket);
    const { epoch } = await clients.reserve(0, 1, { count: 5 });
    await clients.reserve(100, 1, { count: 5 });
    await clients.reserve(110, 1);
    assert.equal(await clients.peek(400), [3]);
    await clients.refund(400, 1, { moment: 100, epoch, count: 5 });
    assert.equal(await clients.peek(400), [8]);
  });
});
