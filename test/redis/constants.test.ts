// The constants of both twins. A comparison of the twins does not detect the same change in both.
import * as assert from 'uvu/assert';
import { outcome } from '../../src/stores/store.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments, type TimedFleet } from './timedFleet.ts';

const window: LimitSpec = { kind: 'slidingWindow', permits: 10, interval: 1000, resolution: 1 };
const onTheHour: LimitSpec = { kind: 'fixedWindow', permits: 10, interval: 1000, align: 'first' };
/** Longer than two seconds, so that the ledger still exists after them. */
const long: LimitSpec = { ...window, interval: 10_000 };
const slow: LimitSpec = { kind: 'slidingWindow', permits: 1, interval: 1000, resolution: 1 };

inEachTwin('constants', (test, { fleet }) => {
  /** A fleet whose first client has a reservation that is due at 10,000. */
  const waiting = async (): Promise<TimedFleet> => {
    const clients = await fleet(long);
    await clients.reserve(0, 1, { count: 11 });
    return clients;
  };

  /** The heartbeat of a client that waits for its last reservation. */
  const beat = async (
    clients: TimedFleet,
    at: number,
    client: number,
    moment = 10_000,
    horizon = 1e9,
  ): Promise<void> => {
    const { epoch } = await clients.reserve(at, 99, { count: 0 });
    await clients.reserve(at, client, { count: 0, held: 1000, last: { moment, epoch }, horizon });
  };

  /** The same, but another client has had one too, and neither calls again. */
  const contended = async (): Promise<TimedFleet> => {
    const clients = await waiting();
    await clients.reserve(0, 2, { count: 1 });
    for (const client of [1, 2]) await beat(clients, 8_500, client);
    return clients;
  };

  for (const spec of [window, onTheHour])
    test(`the second client's grants are spaced by 0.8 of an even share: ${spec.kind}`, async () => {
      const clients = await fleet(spec);
      await clients.reserve(0, 1, { count: 11 });
      const reply = await clients.reserve(0, 2, { count: 5 });
      assert.equal(moments(reply), [1000, 1080, 1160, 1240, 1320]);
    });

  for (const [kind, permits, spacing] of [
    ['slidingWindow', 8, 64],
    ['slidingWindow', 20, 83],
    ['fixedWindow', 20, 160],
  ] as const)
    test(`requests for ${permits} of 100 permits of a ${kind} are granted ${spacing} ms apart`, async () => {
      const clients = await fleet({ ...(kind === 'fixedWindow' ? onTheHour : window), permits: 100 });
      await clients.reserve(0, 1, { count: 101 });
      const [, first, second] = moments(await clients.reserve(0, 2, { count: 3, permits }));
      assert.is(second - first, spacing);
    });

  test('an entry of a log holds more permits than four bytes can count', async () => {
    const most = 2 ** 33;
    const clients = await fleet({ ...window, permits: most });
    await clients.reserve(0, 1, { permits: 2 ** 32 });
    for (const at of [10, 20]) await clients.reserve(at, 1);
    assert.equal(await clients.peek(1005), [most - 2]);
  });

  test('grants under contention are a second apart at most', async () => {
    const daily = 86_400_000;
    const clients = await fleet({ ...window, permits: 100, interval: daily });
    await clients.reserve(0, 1, { count: 101 });
    const reply = await clients.reserve(0, 2, { count: 3 });
    assert.equal(moments(reply), [daily, daily + 1000, daily + 2000]);
  });

  test('a reply to a client that would reserve more than a second ahead has 512 segments of reservations at most', async () => {
    const clients = await fleet(slow);
    const { segments } = await clients.reserve(0, 1, { count: 600 });
    assert.equal(
      [segments.length, segments.at(-1)!.count, segments.at(-1)!.delay],
      [513, 88, outcome.queued],
    );
    assert.is((await clients.reserve(0, 1, { count: 88, held: 511_000 })).segments.length, 88);
  });

  test('the spacing lasts for two seconds after the last reservation made under contention', async () => {
    for (const [at, expected] of [
      [11_999, [11_999, 12_799, 13_599]],
      [12_000, [12_000, 12_000, 12_000]],
    ] as const) {
      const clients = await contended();
      assert.equal(moments(await clients.reserve(at, 3, { count: 3 })), expected);
    }
  });

  test('the spacing ends when all clients but one have left', async () => {
    for (const leaving of [[2], [1, 2]]) {
      const clients = await contended();
      for (const client of leaving) await clients.finish(10_500, client);
      const at = 10_501;
      assert.equal(moments(await clients.reserve(at, 1, { count: 3 })), [at, at, at]);
    }
    // A client that waits counts, although another one has left.
    const clients = await contended();
    await clients.finish(10_500, 3);
    assert.equal(moments(await clients.reserve(10_501, 1, { count: 2 })), [10_800, 11_600]);
  });

  test('a decision is spaced for the same time', async () => {
    for (const [at, expected] of [
      [11_999, [true, false]],
      [12_000, [true, true]],
    ] as const) {
      const clients = await contended();
      const granted: boolean[] = [];
      for (let i = 0; i < 2; i++) granted.push(await clients.decide(at, 3));
      assert.equal(granted, expected, `at ${at}`);
    }
  });

  test('a client counts until two seconds after its last reservation is due', async () => {
    for (const [at, contenders] of [
      [11_900, 2],
      [11_999, 2],
      [12_000, 1],
      [12_100, 1],
    ]) {
      const clients = await waiting();
      await beat(clients, 8_500, 1);
      assert.is((await clients.reserve(at, 2)).contenders, contenders, `at ${at}`);
    }
  });

  test('a client that calls no more counts for four seconds, however far its reservation is ahead', async () => {
    for (const [at, contenders, granted] of [
      [3_999, 3, [false, false]],
      [4_000, 1, [true, true]],
    ] as const) {
      const clients = await waiting();
      const { epoch } = await clients.reserve(0, 2, { count: 1 });
      // Both reservations first: otherwise they would become void with the refund, and the pace would end.
      await clients.refund(at, 1, { moment: 10_000, epoch, count: 2 }, 2);
      await clients.refund(at, 3, { moment: 0, epoch, count: 10 });
      const taken: boolean[] = [];
      for (let i = 0; i < 2; i++) taken.push(await clients.decide(at, 3));
      assert.equal(taken, granted, `at ${at}`);
      assert.is((await clients.reserve(at, 3)).contenders, contenders, `at ${at}`);
    }
  });

  test('each of several clients counts for the same time', async () => {
    for (const [at, contenders] of [
      [11_999, 3],
      [12_000, 2],
    ]) {
      const clients = await waiting();
      // Due at 10,000 and 10,800.
      await clients.reserve(0, 2, { count: 2 });
      await beat(clients, 8_500, 1);
      await beat(clients, 8_500, 2, 10_800);
      assert.is((await clients.reserve(at, 3)).contenders, contenders, `at ${at}`);
    }
  });

  test('a client that has finished is no longer a contender', async () => {
    const clients = await waiting();
    await clients.finish(10, 1);
    assert.is((await clients.reserve(10, 2)).contenders, 1);
  });

  test('one of several clients that has finished is no longer a contender', async () => {
    const clients = await waiting();
    await clients.reserve(0, 2);
    await clients.reserve(0, 3);
    await clients.finish(10, 2);
    assert.is((await clients.reserve(10, 4)).contenders, 3);
    await clients.finish(20, 3);
    await clients.finish(20, 4);
    assert.is((await clients.reserve(30, 1, { held: 100 })).contenders, 1);
  });

  test('each contender may reserve as much as the largest request, and all but one together four seconds', async () => {
    const clients = await fleet({ ...window, permits: 100 });
    const ask = (client: number, count: number, permits = 1) =>
      clients.reserve(0, client, { count, permits, horizon: 20 });
    await ask(1, 100);
    // Alone, a client has the whole horizon.
    assert.is((await ask(1, 1, 50)).share, undefined);
    assert.is((await ask(2, 1)).share, undefined);
    await ask(1, 1, 50);
    const { share, segments } = await ask(2, 100);
    assert.is(share, 500);
    const reserved = segments.filter(({ delay }) => delay >= 0).reduce((sum, { count }) => sum + count, 0);
    assert.is(reserved, 50);
    for (let client = 3; client <= 9; client++) assert.is((await ask(client, 1)).share, 500);
    assert.is((await ask(10, 1)).share, 444.444);
  });

  test('a large request counts for two seconds after its moment, whatever smaller ones follow', async () => {
    for (const [after, share] of [
      [1999, 100],
      [2000, undefined],
    ] as const) {
      const clients = await fleet({ ...long, permits: 1000 });
      await clients.reserve(0, 1, { count: 1000, horizon: 20 });
      await clients.reserve(0, 2, { horizon: 20 });
      const [due] = moments(await clients.reserve(0, 1, { permits: 10, horizon: 20 }));
      const at = due + after;
      // So that both are contenders for longer.
      for (const client of [1, 2]) await beat(clients, at - 1000, client, at + 5000, 20);
      assert.is((await clients.reserve(at, 2, { horizon: 20 })).share, share, `at ${at}`);
    }
  });

  test('the longest horizon of a contender counts for two seconds after its call, and at most one second of it', async () => {
    for (const [horizon, after, share] of [
      [200, 1999, 100],
      [200, 2000, undefined],
      [5000, 1999, 500],
    ] as const) {
      const clients = await fleet({ ...long, permits: 1 });
      await clients.reserve(0, 1, { horizon: 20 });
      await clients.reserve(0, 2, { horizon: 20 });
      await clients.reserve(0, 1, { count: 0, held: 1000, horizon });
      assert.is((await clients.reserve(after, 2, { count: 0, held: 1000, horizon: 20 })).share, share);
    }
  });

  test('reservations for the two seconds after a change of the rate stay valid, and no later ones', async () => {
    const clients = await fleet(slow);
    const { epoch } = await clients.reserve(0, 1, { count: 6 });
    await clients.setRate(500, 2, { ...slow, permits: 2 });
    assert.is((await clients.reserve(500, 1, { count: 0, epoch, held: 1 })).voidAfter, 2000);
    // The reservations for 0, 1000 and 2000 count: the new rate allows one more at 2000.
    assert.equal(moments(await clients.reserve(1500, 3, { count: 3, horizon: 1e9 })).slice(0, 1), [2000]);
    assert.is((await clients.reserve(1500, 1, { count: 0, epoch, held: 1 })).voidAfter, 1000);
    assert.is((await clients.reserve(2600, 1, { count: 0, epoch, held: 1 })).voidAfter, 0);
  });

  for (const spec of [window, onTheHour])
    test(`a change of the rate leaves nothing of the reservations behind a pause: ${spec.kind}`, async () => {
      const clients = await fleet(spec);
      await clients.pause(0, 1, 3000);
      assert.equal(moments(await clients.reserve(0, 2, { count: 3 })), [3000, 3000, 3000]);
      await clients.setRate(100, 1, { ...spec, permits: 20 });
      assert.equal(await clients.peek(3000), [20]);
    });

  test('a pause longer than six bytes can count grants nothing', async () => {
    const clients = await fleet(long);
    assert.is(await clients.decide(0, 1), true);
    await clients.pause(1, 1, 2 ** 48);
    for (const at of [2, 3, 4]) assert.is(await clients.decide(at, 1), false, `at ${at}`);
  });

  test('reservations that one change has voided stay void after the next, however late a client calls', async () => {
    for (const [at, valid] of [
      [4490, 0],
      [4510, 0],
    ]) {
      const clients = await fleet(slow);
      const { epoch } = await clients.reserve(0, 1, { count: 6 });
      await clients.setRate(500, 2, { ...slow, permits: 2 });
      // Keeps the ledger until then.
      await clients.reserve(1000, 2, { count: 12 });
      await clients.setRate(at, 2, { ...slow, permits: 3 });
      assert.is((await clients.reserve(at, 1, { count: 0, epoch, held: 1 })).voidAfter, valid, `at ${at}`);
    }
  });

  test('void reservations stay void when one more change follows', async () => {
    const clients = await fleet(slow);
    const { epoch } = await clients.reserve(0, 1, { count: 6 });
    await clients.setRate(500, 2, { ...slow, permits: 2 });
    await clients.setRate(1000, 2, { ...slow, permits: 3 });
    await clients.setRate(2600, 2, { ...slow, permits: 4 });
    // Reservations for 2500 or later are void since the first change; by 4500 all clients have called again.
    assert.is((await clients.reserve(2600, 1, { count: 0, epoch, held: 1 })).voidAfter, 0);
  });

  test('the last eight changes are distinguished, and earlier ones count as the oldest of them', async () => {
    for (const [changes, until] of [
      [8, 2200],
      [9, 2100],
    ]) {
      const clients = await fleet(slow);
      await clients.reserve(0, 1, { count: 6 });
      await clients.setRate(100, 2, { ...slow, permits: 2 });
      const { epoch } = await clients.reserve(150, 1, { count: 1 });
      for (let i = 2; i <= changes; i++) await clients.setRate(100 * i, 2, { ...slow, permits: 1 + i });
      const { voidAfter } = await clients.reserve(1000, 1, { count: 0, epoch, held: 1 });
      assert.is(voidAfter, until - 1000, `${changes} changes`);
    }
  });

  test('a ledger is kept until each client has received a change', async () => {
    const clients = await fleet(window);
    await clients.reserve(0, 1, { count: 5 });
    assert.is(await clients.keptUntil(0), 1000);
    await clients.setRate(500, 2, { ...window, permits: 20 });
    assert.is(await clients.keptUntil(500), 4500);
  });

  test('for as long as a pause would have lasted, a reply reports that another client has lifted it, and reservations for the next two seconds stay valid', async () => {
    for (const [at, valid] of [
      [1500, 2000],
      [59_900, 2000],
      [60_100, undefined],
    ]) {
      // Each client has its own ledger: changes by the other client arrive through the control only.
      const clients = await fleet(slow, 'client');
      await clients.pause(0, 1, 60_000);
      const { epoch } = await clients.reserve(0, 1, { count: 5 });
      await clients.forget(1000, 2);
      const reply = await clients.reserve(at as number, 1, { count: 0, epoch, held: 1 });
      assert.is(reply.voidAfter, valid, `at ${at}`);
    }
  });

  test('a shorter pause does not hide that a longer one was lifted, nor does its end, or the end of the next one', async () => {
    const clients = await fleet(slow, 'client');
    await clients.pause(0, 1, 60_000);
    const { epoch } = await clients.reserve(0, 1, { count: 5 });
    await clients.forget(1000, 2);
    await clients.pause(2000, 2, 20_000);
    await clients.forget(3000, 2);
    await clients.forget(4000, 2);
    const reply = await clients.reserve(50_000, 1, { count: 0, epoch, held: 1 });
    assert.is(reply.voidAfter, 2000);
  });

  test('a reply reports that another client has deleted the stored rate, and reservations for the next two seconds stay valid', async () => {
    const hourly: LimitSpec = { ...long, permits: 1, interval: 3_600_000 };
    const clients = await fleet(long, 'client');
    await clients.setRate(0, 2, hourly);
    // At once, in an hour, and in two.
    const { epoch } = await clients.reserve(0, 1, { count: 3 });
    await clients.forget(1000, 2, true);
    const reply = await clients.reserve(2500, 1, { count: 11, epoch, held: 2 });
    assert.is(reply.voidAfter, 2000);
    // Under its own limit, only the grant counts.
    assert.equal(moments(reply), [...Array(9).fill(2500), 10_000, 12_500]);
    assert.is((await clients.reserve(4000, 1, { count: 0, epoch, held: 2 })).voidAfter, 500);
  });

  test('a limit of its own that has changed voids the reservations of a ledger of one client, and not of one of several clients', async () => {
    for (const [scope, valid] of [
      ['client', 2000],
      ['fleet', undefined],
    ] as const) {
      const clients = await fleet(long, scope);
      const { epoch } = await clients.reserve(0, 1, { count: 15 });
      const changed = clients.under({ ...long, permits: 20 });
      assert.is((await changed.reserve(1000, 1, { count: 0, epoch, held: 5 })).voidAfter, valid, scope);
    }
  });

  test('a pause that ends earlier after a step of the clock is not lifted', async () => {
    const clients = await fleet(slow, 'client');
    await clients.pause(0, 1, 60_000);
    await clients.forget(0, 2);
    await clients.pause(1000, 1, 60_000);
    const { epoch } = await clients.reserve(1000, 1, { count: 2 });
    // Another client's ledger sees the step back, and this client's one does not.
    await clients.peek(500);
    const reply = await clients.reserve(1500, 1, { count: 0, epoch, held: 1 });
    assert.is(reply.voidAfter, undefined);
  });

  test('a release that is resent within a minute restores nothing, however old the grants are', async () => {
    for (const [at, left] of [
      [59_900, 0],
      [60_100, 3],
    ]) {
      const clients = await fleet(window);
      await clients.reserve(0, 1, { count: 10 });
      await clients.release(0, 1, 3);
      assert.equal(await clients.peek(0), [3]);
      await clients.reserve(at, 2, { count: 10 });
      await clients.release(at, 1, 3);
      assert.equal(await clients.peek(at), [left], `at ${at}`);
    }
  });

  for (const longer of [
    { ...window, interval: 600_000 },
    { ...onTheHour, interval: 600_000 },
  ] as LimitSpec[])
    test(`a refund that is resent within a minute restores nothing under a longer interval: ${longer.kind}`, async () => {
      for (const [at, left] of [
        [59_900, 3],
        [60_100, 6],
      ]) {
        const clients = await fleet({ ...longer, interval: 1000 });
        const { epoch } = await clients.reserve(0, 1, { count: 10 });
        await clients.refund(100, 1, { moment: 0, epoch, count: 3 });
        await clients.setRate(200, 1, longer);
        assert.equal(await clients.peek(at), [3]);
        await clients.refund(at, 1, { moment: 0, epoch, count: 3 });
        assert.equal(await clients.peek(at), [left], `at ${at}`);
      }
    });

  test('a bucket that is full again within a millisecond keeps its epoch for a second', async () => {
    const full: LimitSpec = { kind: 'tokenBucket', permits: 1000, interval: 1000, burst: 1000 };
    for (const [at, isKept] of [
      [999, true],
      [1000, false],
    ] as const) {
      const clients = await fleet(full);
      const { epoch } = await clients.reserve(0, 1);
      assert.is((await clients.reserve(at, 1)).epoch === epoch, isKept, `at ${at}`);
    }
  });

  test('a refund that is resent restores nothing, even in the interval after all permits are free', async () => {
    for (const at of [0, 90_000, 199_000]) {
      const clients = await fleet({ ...window, interval: 100_000 });
      const { epoch } = await clients.reserve(0, 1, { count: 10 });
      await clients.refund(0, 1, { moment: 0, epoch, count: 3 });
      assert.equal(await clients.peek(0), [3]);
      // All available permits: a new window has started by then.
      if (at > 0) await clients.reserve(at, 2, { count: 20, maxWait: 0 });
      const before = await clients.peek(at);
      await clients.refund(at, 1, { moment: at > 100_000 ? at : 0, epoch, count: 3 });
      assert.equal(await clients.peek(at), before, `at ${at}`);
    }
  });
});
