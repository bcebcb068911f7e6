// Permits refunded from a grant go to the next request, before existing reservations, unless a reservation needs them.
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments, type TimedFleet } from './timedFleet.ts';

const rate = { permits: 10, interval: 1000 };
const kinds: LimitSpec[] = [
  { kind: 'slidingWindow', ...rate, resolution: 1 },
  { kind: 'fixedWindow', ...rate, align: 'first' },
];

inEachTwin('gaps', (test, { fleet }) => {
  /** A full window, and two clients with reservations for 1000 or later; the epoch of the first. */
  const full = async (spec: LimitSpec): Promise<{ clients: TimedFleet; epoch: number }> => {
    const clients = await fleet(spec);
    const { epoch } = await clients.reserve(0, 1, { count: 11 });
    await clients.reserve(0, 2);
    return { clients, epoch };
  };

  for (const spec of kinds) {
    test(`a refunded permit is granted at once, and once: ${spec.kind}`, async () => {
      const { clients, epoch } = await full(spec);
      await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
      const [first, second] = moments(await clients.reserve(100, 3, { count: 2 }));
      assert.is(first, 100);
      assert.ok(second >= 1000, `${second}`);
    });

    test(`permits that were not refunded are not granted: ${spec.kind}`, async () => {
      const { clients } = await full(spec);
      const [moment] = moments(await clients.reserve(100, 3));
      assert.ok(moment > 1000, `${moment}`);
    });

    test(`a request that may not wait overtakes no reservation: ${spec.kind}`, async () => {
      const { clients, epoch } = await full(spec);
      await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
      assert.equal(moments(await clients.reserve(100, 3, { maxWait: 0 })), []);
    });

    test(`a request does not overtake its own client's reservations: ${spec.kind}`, async () => {
      const { clients, epoch } = await full(spec);
      await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
      const last = { moment: 1000, epoch };
      const [moment] = moments(await clients.reserve(100, 1, { last, held: 100 }));
      assert.ok(moment >= 1000, `${moment}`);
    });

    test(`a reservation that is due now holds back no later request of its client: ${spec.kind}`, async () => {
      const { clients, epoch } = await full(spec);
      await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
      const last = { moment: 100, epoch };
      assert.equal(moments(await clients.reserve(100, 3, { last })), [100]);
    });

    test(`refunded permits that were granted again leave no gap: ${spec.kind}`, async () => {
      const clients = await fleet(spec);
      const { epoch } = await clients.reserve(0, 1, { count: 8, held: 100 });
      assert.equal(moments(await clients.reserve(0, 2, { count: 2, held: 100 })), [0, 80]);
      await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
      assert.equal(moments(await clients.reserve(200, 3)), [200]);
      const [moment] = moments(await clients.reserve(210, 4));
      assert.ok(moment >= 1000, `${moment}`);
    });
  }

  for (const align of ['first', 'epoch'] as const)
    test(`a fixed window grants before its reservations, although another limit is full until these: ${align}`, async () => {
      const slow: LimitSpec = { kind: 'fixedWindow', permits: 10, interval: 1000, align: 'first' };
      for (const at of [310, 900, 998]) {
        const clients = await fleet([slow, { kind: 'fixedWindow', permits: 5, interval: 100, align }]);
        const { epoch } = await clients.reserve(0, 1, { count: 5, held: 100 });
        await clients.reserve(100, 1, { count: 5, held: 100 });
        assert.equal(moments(await clients.reserve(101, 2)), [1000]);
        await clients.refund(300, 1, { moment: 0, epoch, count: 1 });
        assert.equal(moments(await clients.reserve(at, 3)), [at]);
      }
    });

  test('the window of a reservation starts earlier if that leaves it enough permits', async () => {
    const windowOf = (permits: number, interval: number): LimitSpec => ({
      kind: 'fixedWindow',
      permits,
      interval,
      align: 'first',
    });
    for (const reserved of [4, 5]) {
      const clients = await fleet([windowOf(10, 1000), windowOf(5, 100)]);
      const { epoch } = await clients.reserve(0, 1, { count: 5, held: 100 });
      await clients.reserve(100, 1, { count: 5, held: 100 });
      assert.equal(moments(await clients.reserve(101, 2, { permits: reserved, held: 100 })), [1000]);
      await clients.refund(300, 1, { moment: 0, epoch, count: 1 });
      const [moment] = moments(await clients.reserve(950, 3));
      assert.ok(reserved < 5 ? moment === 950 : moment >= 1000, `${moment} beside ${reserved}`);
    }
  });

  test('a call is granted at most 64 requests ahead of reservations', async () => {
    const clients = await fleet({ ...kinds[1], permits: 100 });
    const { epoch } = await clients.reserve(0, 1, { count: 101 });
    await clients.reserve(0, 2);
    await clients.refund(100, 1, { moment: 0, epoch, count: 70 });
    const granted = moments(await clients.reserve(100, 3, { count: 70 }));
    assert.is(granted.filter((moment) => moment === 100).length, 64);
    assert.is(granted.length, 70);
  });

  test('while many permits are refunded, a client that calls again is granted one request ahead of reservations', async () => {
    for (const [maxWait, most] of [
      [2, 1],
      [1.9, 4],
    ]) {
      const clients = await fleet({ kind: 'tokenBucket', permits: 100, interval: 1000, burst: 100 });
      const { epoch } = await clients.reserve(0, 1, { count: 50, held: 1 });
      await clients.reserve(0, 2, { count: 90 });
      await clients.refund(100, 1, { moment: 0, epoch, count: 20 });
      const granted = await clients.reserve(100, 3, { count: 6, permits: 5, maxWait });
      assert.equal(moments(granted), Array(most).fill(100));
    }
  });

  test('each grant leaves its window before the reservation one interval later needs its permits', async () => {
    const clients = await fleet(kinds[0]);
    for (const at of [0, 10]) await clients.reserve(at, 1, { count: 3 });
    const reply = await clients.reserve(20, 1, { count: 10 });
    assert.equal(moments(reply), [20, 20, 20, 20, 1000, 1000, 1000, 1010, 1010, 1010]);
    await clients.reserve(20, 2);
    await clients.refund(100, 1, { moment: 20, epoch: reply.epoch, count: 1 });
    assert.equal(moments(await clients.reserve(100, 3)), [100]);
  });

  test('a reservation one window after the refunded grant needs its permit', async () => {
    const clients = await fleet(kinds[0]);
    const { epoch } = await clients.reserve(0, 1, { count: 20 });
    await clients.reserve(0, 2);
    await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
    // With the reservations for 1000, windows that end before 1000 have room for one more permit, and later ones have none.
    const [moment] = moments(await clients.reserve(100, 3));
    assert.ok(moment > 1000, `${moment}`);
  });

  test('a reservation for the next millisecond takes no permit from the window that ends now', async () => {
    const clients = await fleet({ ...kinds[0], permits: 3 });
    const { epoch } = await clients.reserve(0, 1, { count: 4 });
    await clients.reserve(0, 2);
    await clients.refund(999, 1, { moment: 0, epoch, count: 1 });
    assert.equal(moments(await clients.reserve(999, 3)), [999]);
  });

  test('a hole in the later window frees the permit', async () => {
    const clients = await fleet(kinds[0]);
    const { epoch } = await clients.reserve(0, 1, { count: 20 });
    await clients.reserve(0, 2);
    await clients.refund(100, 1, { moment: 1000, epoch, count: 1 });
    await clients.refund(100, 1, { moment: 0, epoch, count: 1 }, 2);
    const [first, second] = moments(await clients.reserve(100, 3, { count: 2 }));
    assert.is(first, 100);
    assert.ok(second > 1000, `${second}`);
  });

  test('a moment that is rounded up into the next window is not before it', async () => {
    const clients = await fleet({ kind: 'fixedWindow', permits: 2, interval: 30, align: 'first' });
    const { epoch } = await clients.reserve(0, 1, { count: 3 });
    await clients.reserve(0, 2);
    // Under the longer interval, the first window overlaps the second.
    await clients.setRate(1, 1, { kind: 'fixedWindow', permits: 2, interval: 31, align: 'first' });
    await clients.refund(2, 1, { moment: 0, epoch, count: 1 });
    const [moment] = moments(await clients.reserve(29.5, 3));
    assert.ok(moment > 30, `${moment}`);
  });

  test('a refunded reservation at the start of the next window makes no room in a full one', async () => {
    const clients = await fleet(kinds[1]);
    const { epoch } = await clients.reserve(0, 1, { count: 20 });
    await clients.refund(100, 1, { moment: 0, epoch, count: 1 });
    const [first, second] = moments(await clients.reserve(100, 2, { count: 11 }));
    assert.equal([first, second], [100, 2000]);
    await clients.refund(1500, 2, { moment: 2000, epoch, count: 1 });
    assert.equal(moments(await clients.reserve(1500, 3)), [2000]);
  });

  test('when all clients have cancelled, no permit of a window waits for the moment of a cancelled reservation', async () => {
    const clients = await fleet(kinds[1]);
    await clients.reserve(0, 1, { permits: 6 });
    const first = await clients.reserve(0, 1, { permits: 5 });
    const { epoch } = first;
    const second = await clients.reserve(100, 2);
    const third = await clients.reserve(100, 3, { permits: 4 });
    for (const [client, permits, reply] of [
      [1, 5, first],
      [2, 1, second],
      [3, 4, third],
    ] as const) {
      assert.equal(await clients.peek(200), [0]);
      const [moment] = moments(reply);
      await clients.refund(200, client, { moment, epoch, count: 1, permits });
      await clients.finish(200, client);
    }
    assert.equal(await clients.peek(200), [4]);
    assert.equal(moments(await clients.reserve(200, 4, { count: 4 })), [200, 200, 200, 200]);
  });
});
