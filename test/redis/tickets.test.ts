// The order of clients that wait for rare permits, many of which are refunded.
import * as assert from 'uvu/assert';
import { outcome } from '../../src/stores/store.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments, type TimedFleet } from './timedFleet.ts';

const rate = { permits: 1, interval: 1000 };
const kinds: LimitSpec[] = [
  { kind: 'slidingWindow', ...rate, resolution: 1 },
  { kind: 'fixedWindow', ...rate, align: 'first' },
  { kind: 'tokenBucket', ...rate, burst: 1 },
];
const horizon = 20;
/**
 * Milliseconds that the kept part of a permit takes: all were refunded, and a twentieth is assumed; or one of two, of which the
 * second was granted in its place.
 */
const keptOf = ({ kind }: LimitSpec) => (kind === 'fixedWindow' ? 500 : 50);
/** The number of clients that were granted it, and so call again. */
const againOf = ({ kind }: LimitSpec) => (kind === 'fixedWindow' ? 1 : 0);
/** The same after one more reservation. */
const moreOf = ({ kind }: LimitSpec) => (kind === 'fixedWindow' ? 2000 / 3 : 500);

/**
 * When a client calls that is expected at `at`. Half of the kept part of a fixed window's only permit counts for those in front as
 * soon as it starts.
 */
const turnIn = ({ kind }: LimitSpec, at: number, start: number, kept: number): number =>
  kind === 'fixedWindow' ? Math.max(start, at - kept / 2) : at;

/** Replies have whole microseconds. */
const near = (actual: number | undefined, expected: number) =>
  assert.ok(Math.abs(actual! - expected) < 0.002, `${actual} in place of ${expected}`);

inEachTwin('tickets', (test, { fleet }) => {
  /** A limit whose first permit was refunded; clients 1 and 2 have reserved the next two. */
  const refunded = async (spec: LimitSpec, number = 1): Promise<TimedFleet> => {
    const clients = await fleet(Array<LimitSpec>(number).fill(spec));
    const { epoch } = await clients.reserve(0, 1, { count: 2 });
    const reply = await clients.reserve(0, 2);
    assert.equal(moments(reply), [2 * spec.interval]);
    // At once, so that the whole permit comes back.
    await clients.refund(0, 1, { moment: 0, epoch, count: 1 });
    // A fixed window would grant it again.
    if (spec.kind === 'fixedWindow') assert.equal(moments(await clients.reserve(0, 1)), [0]);
    return clients;
  };
  /** Milliseconds after which a client that has reserved nothing is to call again. */
  const retryOf = async (clients: TimedFleet, at: number, client: number): Promise<number> => {
    const reply = await clients.reserve(at, client, { horizon });
    assert.equal(moments(reply), [], `client ${client} at ${at}`);
    return reply.retryAfter!;
  };

  for (const [kind, options, turns] of [
    ['fixedWindow', { align: 'first' }, [990, 1000, 1000, 1740]],
    ['slidingWindow', { resolution: 1 }, [990, 1740, 2490, 3240]],
  ] as const)
    test(`the permits of a fixed window come at once, also for clients behind others: ${kind}`, async () => {
      const clients = await fleet({ kind, permits: 4, interval: 4000, ...options } as LimitSpec);
      const { epoch } = await clients.reserve(0, 1, { count: 5 });
      await clients.reserve(0, 2);
      // A quarter of all permits was refunded, so each client in front delays the others by 750 ms.
      await clients.refund(5, 1, { moment: 0, epoch, count: 3 });
      for (const client of [7, 8, 9]) assert.equal(moments(await clients.reserve(6, client)), [6]);
      for (const client of [3, 4, 5, 6]) await retryOf(clients, 20, client);
      const retries: number[] = [];
      for (const client of [3, 4, 5, 6]) retries.push(await retryOf(clients, 3000, client));
      assert.equal(retries, turns);
    });

  /** Whether the last of so many clients waits in order, after a part of their requests was refunded so many milliseconds later. */
  const isOrdered = async (
    limit: LimitSpec,
    refunded: number,
    number: number,
    after = 0,
  ): Promise<boolean> => {
    const clients = await fleet(limit);
    const { epoch } = await clients.reserve(0, 1, { count: limit.permits + 1 });
    if (after > 0) await clients.owe(after, 1, limit.permits);
    for (let client = 2; client < number; client++) await clients.reserve(after, client, { horizon: 1 });
    const count = Math.ceil((number - 1) * refunded);
    await clients.refund(after, 1, { moment: 0, epoch, count }, 2);
    const { retryAfter, inTurn } = await clients.reserve(after + 2, number, { epoch, horizon: 1 });
    return retryAfter !== undefined && !inTurn;
  };

  for (const kind of kinds.slice(0, 2))
    test(`clients wait in order if their reservations would take up an interval: ${kind.kind}`, async () => {
      for (const [permits, interval, refunded, number] of [
        // More than 0.45 of the interval.
        [20, 1000, 1, 10],
        [40, 200, 0.5, 19],
        [50, 1000, 1, 23],
        // More than the kept part of it.
        [20, 100, 0.25, 14],
        [50, 1000, 0.25, 38],
        // Of slow requests of which fewer than nine fit into a fixed window, so that there are no turns.
        [8, 600, 0.2, 7],
        // Of other slow requests in a fixed window, more than all of it, unless few are kept.
        kind.kind === 'fixedWindow' ? [20, 1000, 0.5, 21] : [20, 1000, 0.25, 14],
      ]) {
        const what = `${number} clients on ${permits} in ${interval} ms`;
        assert.is(
          await isOrdered({ ...kind, permits, interval }, refunded, number - 1),
          false,
          `fewer than ${what}`,
        );
        assert.is(await isOrdered({ ...kind, permits, interval }, refunded, number), true, what);
      }
      // There are tickets for 64 clients.
      assert.is(await isOrdered({ ...kind, permits: 40, interval: 500 }, 0.5, 64), true);
      assert.is(await isOrdered({ ...kind, permits: 40, interval: 500 }, 0.5, 65), false);
      // A request takes a millisecond.
      assert.is(await isOrdered({ ...kind, permits: 100, interval: 100 }, 1, 46), true);
      // At most nine tenths are kept.
      assert.is(await isOrdered({ ...kind, permits: 40, interval: 500 }, 0.1, 61), true);
      assert.is(await isOrdered({ ...kind, permits: 40, interval: 500 }, 0.09, 61), true);
      assert.is(await isOrdered({ ...kind, permits: 40, interval: 500 }, 0.08, 61), false);
    });

  for (const kind of kinds)
    test(`clients wait in order for few requests, most of which are refunded: ${kind.kind}`, async () => {
      const isBucket = kind.kind === 'tokenBucket';
      const isFew = (permits: number, interval: number, refunded: number, number: number, after = 0) => {
        const burst = isBucket ? { burst: permits } : {};
        return isOrdered({ ...kind, permits, interval, ...burst }, refunded, number, after);
      };
      // Sixteen requests take more than 0.45 of a window, or a full bucket holds fewer.
      const few = isBucket ? 15 : 35;
      assert.is(await isFew(few, 300, 1, 5), true);
      assert.is(await isFew(few + 1, 300, 1, 5), false);
      // At most 0.6 of them are kept. Of a window, they also have to take more than the kept part.
      assert.is(await isFew(few, 300, 0.5, 11), true);
      assert.is(await isFew(isBucket ? few : 26, 300, 0.4, 11), true);
      assert.is(await isFew(few, 300, isBucket ? 0.3 : 0.4, 11), false);
      // Requests of 40 ms are slow, and not few of a window.
      assert.is(await isFew(12, 479, 1, 5), true);
      assert.is(await isFew(12, 480, 1, 5), false);
      if (!isBucket) return;
      // Of slow ones, a bucket holds fewer than eight, and no more than there are clients.
      assert.is(await isFew(4, 400, 0.5, 4), true);
      assert.is(await isFew(5, 500, 0.5, 4), false);
      assert.is(await isFew(7, 700, 0.5, 9), true);
      assert.is(await isFew(8, 800, 0.5, 9), false);
      // Of any bucket, they are few for up to 16 clients, after a refund later than a third of the interval.
      const isFewLate = (refunded: number, number: number, after = 1000) =>
        isFew(50, 2000, refunded, number, after);
      assert.is(await isFewLate(1, 16), true);
      assert.is(await isFewLate(1, 17), false);
      assert.is(await isFewLate(1, 16, 600), false);
      assert.is(await isFewLate(0.4, 11), true);
      assert.is(await isFewLate(0.3, 11), false);
    });

  /** Limits of a kind, for which clients 3 and 4 have been granted a permit each in their turns: the latter at 3600. */
  const inTurn = async (spec: LimitSpec, number: number, pace: number): Promise<TimedFleet> => {
    const clients = await refunded(spec, number);
    await retryOf(clients, 6, 3);
    const inFront = againOf(spec) + 1;
    assert.is(await retryOf(clients, 7, 4), 2000 + inFront * pace * keptOf(spec) - horizon / 2 - 7);
    for (const client of [3, 4]) await retryOf(clients, 1500, client);
    const granted = await clients.reserve(2986, 3, { horizon });
    assert.equal(moments(granted), [3000]);
    near(granted.retryAfter, pace * 2 * moreOf(spec) - horizon / 2);
    assert.equal(moments(await clients.reserve(3600, 4, { horizon })), [4000]);
    return clients;
  };

  for (const [number, kind, pace] of [
    [1, 0, 1],
    [2, 0, 0.8],
    [2, 1, 0.8],
    [2, 2, 1],
  ])
    test(`${number} limits grant in order in ${pace} of the time at their rate: ${kinds[kind].kind}`, async () => {
      await inTurn(kinds[kind], number, pace);
    });

  for (const [number, kind, pace] of [
    [1, 0, 1],
    [2, 0, 0.8],
    [2, 2, 1],
  ])
    test(`${number} limits in order wait for a client that calls again: ${kinds[kind].kind}`, async () => {
      const clients = await inTurn(kinds[kind], number, pace);
      // Client 3 was to call again at 3776, and does not: it is forgotten once its next request would have been granted, too.
      const mostKept = (1000 * 2) / 3;
      const expected = (inFront: number) => Math.round((inFront * pace + 1) * mostKept) - horizon / 2;
      assert.is(Math.round(await retryOf(clients, 4309, 5)), expected(2));
      assert.is(Math.round(await retryOf(clients, 4310, 5)), expected(pace < 1 ? 1 : 2));
    });

  for (const spec of kinds) {
    const [kept, more] = [keptOf(spec), moreOf(spec)];
    test(`clients reserve in the order in which they have called, shortly before their turn: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      // As long after the last reservation, at 2000, as before it.
      const turnOf = (inFront: number) => turnIn(spec, 2000 + inFront * kept - horizon / 2, 2000, kept);
      assert.is(await retryOf(clients, 6, 3), turnOf(againOf(spec)) - 6);
      assert.is(await retryOf(clients, 7, 4), turnOf(againOf(spec) + 1) - 7);
      for (const client of [3, 4]) await retryOf(clients, 1500, client);
      // Permits will be free at 3000, but client 3 is the first.
      const turn = turnIn(spec, 3000 + kept - horizon / 2, 3000, kept);
      assert.is(await retryOf(clients, 2985, 4), turn - 2985);
      assert.equal(moments(await clients.reserve(2986, 3, { horizon })), [3000]);
      const again = turnIn(spec, 2987 + 2 * more - horizon / 2, 3000, more);
      near(await retryOf(clients, 2987, 3), again - 2987);
      assert.equal(moments(await clients.reserve(3985, 4, { horizon })), [4000]);
    });

    test(`a client in front reserves as far ahead as a kept permit takes: ${spec.kind}`, async () => {
      for (const [ahead, expected] of [
        [kept, [3000]],
        [kept + 1, []],
      ] as const) {
        const clients = await refunded(spec);
        await retryOf(clients, 1500, 3);
        assert.equal(moments(await clients.reserve(3000 - ahead, 3, { horizon })), expected);
      }
    });

    test(`a client that was granted a permit calls again after those that wait: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      for (const client of [3, 4]) await retryOf(clients, 1500, client);
      const reply = await clients.reserve(2986, 3, { horizon });
      const again = turnIn(spec, 2986 + 2 * more - horizon / 2, 3000, more);
      near(reply.retryAfter, again - 2986);
      assert.is(reply.inTurn, undefined);
      // Client 5 comes after it, although it does not wait yet; but it delays no reservation.
      const behind = turnIn(spec, 2987 + 3 * more - horizon / 2, 3000, more);
      near(await retryOf(clients, 2987, 5), behind - 2987);
      // Client 4 has not called again.
      assert.equal(moments(await clients.reserve(3985, 5, { horizon })), [4000]);
    });

    test(`a client with a long horizon calls again a millisecond later at the earliest: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      await retryOf(clients, 6, 3);
      const { retryAfter } = await clients.reserve(7, 4, { horizon: 10_000 });
      assert.is(retryAfter, 1);
    });

    test(`what is free is granted to any client that calls: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      await retryOf(clients, 1500, 3);
      assert.equal(moments(await clients.reserve(3000, 4, { horizon })), [3000]);
    });

    test(`a client is overtaken until a second after its turn: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      for (const at of [6, 1500]) await retryOf(clients, at, 3);
      // One of the requests stays queued, so that there are contenders.
      assert.equal(moments(await clients.reserve(3000, 4, { count: 2, horizon })), [3000]);
      await retryOf(clients, 3001, 3);
      await retryOf(clients, 4000, 5);
      assert.equal(moments(await clients.reserve(4001, 3, { horizon })), [4001]);
    });

    test(`a client whose turn has passed counts as the first: ${spec.kind}`, async () => {
      for (const [interval, at, expected] of [
        // The turns of clients 3 and 4 are at 1800 and 2400.
        [600, 2800, [2800]],
        // They are at 3000 and 4000. At 4000, client 3 has been overtaken for a second.
        [1000, 4000, []],
      ] as const) {
        const clients = await refunded({ ...spec, interval });
        for (const time of [6, 1490]) for (const client of [3, 4]) await retryOf(clients, time, client);
        await clients.reserve(3 * interval, 5, { count: 2, horizon });
        for (const client of [3, 4]) await retryOf(clients, 3 * interval + 1, client);
        await retryOf(clients, at, 6);
        assert.equal(moments(await clients.reserve(at, 4, { horizon })), expected, `at ${at}`);
      }
    });

    test(`a client that has just reserved a permit is behind those that wait: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      for (const at of [6, 1500]) for (const client of [4, 3]) await retryOf(clients, at, client);
      assert.equal(moments(await clients.reserve(2986, 4, { horizon })), [3000]);
      // However far ahead it may reserve.
      assert.equal(moments(await clients.reserve(2987, 4, { held: 1000, horizon: 5000 })), []);
      await retryOf(clients, 2988, 3);
      assert.equal(moments(await clients.reserve(3700, 3, { horizon })), [4000]);
    });

    test(`a request that does not wait overtakes none: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      await retryOf(clients, 1500, 3);
      assert.equal(moments(await clients.reserve(3000, 4, { maxWait: 0 })), []);
      assert.is(await clients.decide(3000, 4), false);
      assert.is(await clients.decide(3000, 3), true);
    });

    test(`a request is refused if its turn is later than it may wait: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      await retryOf(clients, 6, 3);
      const [{ delay, retryAfter }] = (await clients.reserve(7, 4, { maxWait: 3900, horizon })).segments;
      assert.ok(delay < 0);
      assert.is(retryAfter, 4000 - 7);
    });

    test(`a client that has not called for two seconds is forgotten: ${spec.kind}`, async () => {
      const clients = await refunded(spec);
      await retryOf(clients, 6, 3);
      await retryOf(clients, 1000, 4);
      assert.is(await retryOf(clients, 2005, 4), 2 * kept - horizon / 2);
      assert.is(await retryOf(clients, 2006, 4), kept - horizon / 2);
    });
  }

  for (const spec of kinds.slice(0, 2))
    test(`the first client calls again in half the time if permits come back late: ${spec.kind}`, async () => {
      const waits: number[] = [];
      // Late is more than a third of the interval.
      for (const age of [333, 334]) {
        const clients = await refunded(spec);
        for (const at of [6, 1500]) for (const client of [3, 4]) await retryOf(clients, at, client);
        const { epoch } = await clients.reserve(2986, 3, { horizon });
        await clients.refund(3000 + age, 3, { moment: 3000, epoch, count: 1 });
        assert.equal(moments(await clients.reserve(3400, 4, { horizon })), [3400]);
        waits.push(await retryOf(clients, 3401, 3));
      }
      // Of the later one, less of the permit comes back, so the kept part differs a little.
      assert.ok(Math.abs(waits[1] + horizon / 2 - (waits[0] + horizon / 2) / 2) < 1, waits.join(', '));
    });

  test('a denied decision leaves the time as it is in which the first client is not overtaken', async () => {
    const several: LimitSpec[] = [
      { kind: 'slidingWindow', permits: 1, interval: 1, resolution: 1 },
      { kind: 'tokenBucket', permits: 1, interval: 1, burst: 1 },
      { kind: 'tokenBucket', permits: 4, interval: 4, burst: 4 },
    ];
    /** Whether another client is granted a permit, after some decisions. */
    const overtakes = async (at: number, looks: readonly number[]): Promise<boolean> => {
      const clients = await fleet(several);
      const { epoch } = await clients.reserve(0, 1, { count: 2, cost: [0, 1, 0], horizon: 0 });
      await clients.reserve(0, 2, { cost: [0, 1, 0], horizon: 0 });
      await clients.refund(0, 1, { moment: 0, epoch, count: 1 });
      await clients.reserve(0, 2, { cost: [1, 1, 4], maxWait: 3, horizon: 0 });
      for (const look of looks) assert.is(await clients.decide(look, 9, [1, 0, 0]), false);
      return moments(await clients.reserve(at, 3, { cost: [1, 0, 0], horizon: 0 })).length > 0;
    };
    const times = Array.from({ length: 16 }, (_, i) => 112 + i);
    const found = [];
    for (const at of times) found.push(await overtakes(at, []));
    // Its request takes 4 ms of the limits: it is overtaken for 12 of each 16.
    assert.is(found.filter(Boolean).length, 12);
    for (const [i, at] of times.entries())
      for (const look of [100, 107]) assert.is(await overtakes(at, [look]), found[i], `${look}, ${at}`);
  });

  test('a request that may not wait is refused behind a queued one, although its permit is free', async () => {
    const clients = await fleet({ kind: 'tokenBucket', ...rate, burst: 5 });
    const { epoch } = await clients.reserve(0, 1, { count: 6 });
    await clients.reserve(0, 2);
    await clients.refund(5, 1, { moment: 0, epoch, count: 1 });
    assert.equal(await clients.peek(3500), [2]);
    const { segments } = await clients.reserve(3500, 3, { permits: 5, hasty: 1, horizon });
    assert.equal(
      segments.map(({ delay }) => delay),
      [outcome.queued, outcome.refused],
    );
  });

  test('without refunds, clients reserve exact moments far ahead', async () => {
    for (const spec of kinds) {
      const clients = await fleet(spec);
      await clients.reserve(0, 1, { count: 2 });
      await clients.reserve(0, 2);
      assert.equal(moments(await clients.reserve(6, 3, { horizon })), [3000]);
    }
  });

  test('the order is kept while clients wait, although all permits are free', async () => {
    const clients = await refunded(kinds[0]);
    await retryOf(clients, 6, 3);
    assert.ok((await clients.keptUntil(6)) >= 2006);
  });
});
