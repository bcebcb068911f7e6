// Contenders that take turns to share the permits that come back to a window, and a bucket's free permits.
import * as assert from 'uvu/assert';
import type { ReserveReply } from '../../src/stores/store.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments, type TimedFleet } from './timedFleet.ts';

const rate = { permits: 100, interval: 8000 };
const kinds: LimitSpec[] = [
  { kind: 'slidingWindow', ...rate, resolution: 1 },
  { kind: 'fixedWindow', ...rate, align: 'first' },
];
const horizon = 20;

inEachTwin('turns', (test, { fleet }) => {
  interface Waiting {
    clients: TimedFleet;
    /** Of the first grants, all by client 1. */
    epoch: number;
    /** Calls for the queued requests of a client. */
    call(at: number, client: number, count?: number, maxWait?: number): Promise<ReserveReply>;
    refund(at: number, count: number): Promise<void>;
  }
  /** A window that client 1 used up at 0. Clients 1 to `number` have reserved 8000 and later. */
  const waiting = async (spec: LimitSpec, number = 2): Promise<Waiting> => {
    const clients = await fleet(spec);
    const { epoch } = await clients.reserve(0, 1, { count: spec.permits });
    const call: Waiting['call'] = (at, client, count = 40, maxWait = Infinity) =>
      clients.reserve(at, client, { count, maxWait, horizon, epoch });
    for (let client = 1; client <= number; client++) await call(10, client);
    let sequence = 0;
    const refund: Waiting['refund'] = async (at, count) => {
      assert.ok(await clients.refund(at, 1, { moment: 0, epoch, count }, ++sequence));
    };
    return { clients, epoch, call, refund };
  };
  /** The part of a permit that comes back with a refund at 1000, an eighth of the interval after its grant. */
  const partBack = (kind: string): number => 1 - (kind === 'fixedWindow' ? (3 + 1 / 8) / 32 : 1 / 8);
  const grantedIn = (reply: ReserveReply): number => moments(reply).length;

  test('permits may come back soon after a fixed window has started, however long ago others did', async () => {
    const { call, refund } = await waiting({ ...kinds[1], permits: 400 }, 4);
    const callAll = async (at: number) => {
      for (const client of [1, 2, 3, 4]) await call(at, client, 200);
    };
    for (const at of [1000, 2700, 4400, 6100]) {
      await refund(at, 40);
      await callAll(at + 1);
    }
    await callAll(7500);
    // The next window.
    await callAll(8001);
    const { retryAfter } = await call(8002, 4, 200);
    assert.ok(retryAfter! < 700, `${retryAfter}`);
    const later = await call(8402, 4, 200);
    assert.ok(later.retryAfter! > retryAfter!, `${later.retryAfter}`);
  });

  for (const spec of kinds) {
    test(`each call is granted its client's part of the refunded permits: ${spec.kind}`, async () => {
      const { call, refund } = await waiting({ ...spec, permits: 400 }, 4);
      await refund(1000, 16);
      const granted: number[] = [];
      for (const client of [1, 2, 3, 4]) {
        const reply = await call(1001, client);
        assert.is(reply.inTurn, true);
        // A request takes at most 20 ms, and the last client calls after the four.
        assert.ok(reply.retryAfter! >= 4 && reply.retryAfter! <= 320, `${reply.retryAfter}`);
        // Reservations two seconds ahead of the refund are void.
        assert.is(reply.voidAfter, 1999);
        granted.push(grantedIn(reply));
      }
      assert.equal(granted, [4, 4, 4, 4]);
    });

    test(`a client that is granted all of its requests calls again in its turn: ${spec.kind}`, async () => {
      // A request takes 80 ms. One of two was refunded, and with later refunds, no more comes back than that.
      const pause = 80 * (1 - partBack(spec.kind) / 2);
      for (const [count, expected] of [
        [1, pause],
        [2, 20],
        [4, 20],
        // If there are more than two for each client, it need not wait.
        [5, undefined],
      ] as const) {
        const { call, refund } = await waiting(spec);
        await refund(1000, count);
        const reply = await call(1001, 1, 1);
        assert.is(grantedIn(reply), 1);
        if (expected) assert.ok(Math.abs(reply.retryAfter! - expected) < 0.002, `${reply.retryAfter} ms`);
        else assert.is(reply.retryAfter, expected);
        // It still counts as a contender.
        assert.is((await call(1002, 2)).contenders, 2);
      }
    });

    test(`a client that calls more often than another one is granted no more of what comes back: ${spec.kind}`, async () => {
      // Client 1 may be ahead by five requests, or by three of 80 ms of a sliding window.
      for (const [permits, most] of [
        [400, 5],
        [100, spec.kind === 'slidingWindow' ? 3 : 5],
      ]) {
        const { call, refund } = await waiting({ ...spec, permits });
        await refund(1000, 1);
        assert.is(grantedIn(await call(1001, 1)), 1);
        await call(1002, 2);
        const granted: number[] = [];
        for (const at of [1200, 1400, 1600, 1800, 2000, 2200]) {
          await refund(at, 1);
          granted.push(grantedIn(await call(at, 1)));
        }
        assert.equal(
          granted,
          [1, 2, 3, 4, 5, 6].map((n) => (n <= most ? 1 : 0)),
        );
        assert.ok(grantedIn(await call(2201, 2)) >= 1);
      }
    });

    test(`in a long interval, clients call a quarter of a second after each other, or three quarters if nothing is free: ${spec.kind}`, async () => {
      for (const interval of [10_000, 50_000]) {
        const { call, refund } = await waiting({ ...spec, interval }, 3);
        await refund(1000, 1);
        const waits: number[] = [];
        for (const client of [1, 2, 3]) waits.push((await call(1000, client, 1)).retryAfter!);
        // No client calls later than after a second and a quarter.
        assert.equal(waits, [250, 1000, 1250]);
      }
    });

    test(`in a long interval, the next call comes as soon as in a short one if twice what a call asks for is free: ${spec.kind}`, async () => {
      const { call, refund } = await waiting({ ...spec, permits: 1000, interval: 20_000 }, 3);
      await refund(1000, 4);
      // Half of 20 ms, of which a third is kept.
      const { retryAfter } = await call(1000, 1, 1);
      assert.ok(Math.abs(retryAfter! - 10 / 3) < 0.002, `${retryAfter} ms`);
      assert.ok((await call(1000, 2, 3)).retryAfter! > 250);
    });

    test(`a client calls again after a pause for what it asks for: ${spec.kind}`, async () => {
      for (const [permits, count, pause] of [
        // A request takes 8 ms, and more than twice what it asks for is free: half as long, but at least a millisecond.
        [1000, 1, 1],
        // A third of the permits, or two fifths are kept.
        [1000, 5, 40 / 3],
        // At most a hundredth of the interval.
        [1000, 40, 80 / 3],
        // At least one request.
        [90, 40, ((8000 / 90) * 2) / 5],
      ]) {
        const { call, refund } = await waiting({ ...spec, permits }, 4);
        await refund(1000, 8);
        const { retryAfter } = await call(1000, 1, count);
        assert.ok(Math.abs(retryAfter! - pause) < 0.002, `${retryAfter} ms for ${count} of ${permits}`);
      }
    });

    test(`the next call comes in half the time if twice what a call asks for is free: ${spec.kind}`, async () => {
      const pauseFor = async (count: number) => {
        const { call, refund } = await waiting(spec, 4);
        await refund(1000, 6);
        return (await call(1000, 1, count)).retryAfter!;
      };
      const whole = await pauseFor(4);
      // Permits of a fixed window that are free until its end are in use if clients reserve the next ones in front of their turns.
      for (const count of [2, 3])
        assert.is((await pauseFor(count)) * (spec.kind === 'slidingWindow' ? 2 : 1), whole);
    });

    test(`clients call one after the other, three pauses apart if nothing is free: ${spec.kind}`, async () => {
      const { call, refund } = await waiting({ ...spec, permits: 1000 }, 4);
      await refund(1000, 1);
      // A fifth of the permits was refunded.
      const pause = 8 * (1 - partBack(spec.kind) / 5);
      assert.ok(Math.abs((await call(1000, 2, 1)).retryAfter! - pause) < 0.002);
      const waits: number[] = [];
      for (const client of [1, 2, 3, 4]) waits.push((await call(1001, client, 5)).retryAfter!);
      // Three times the kept part of 40 ms, and one since the refund. The last one calls after four such pauses, as the second
      // one has left a gap.
      const inVain = 3 * 5 * pause;
      const expected = [1, 2, 3].map((n) => pause - 1 + n * (inVain + 1)).concat(4 * inVain + 1);
      for (const [i, wait] of waits.entries())
        assert.ok(Math.abs(wait - expected[i]) < 0.002, `${wait}, not ${expected[i]}`);
    });

    test(`a client calls again the later, the longer no permits have come back: ${spec.kind}`, async () => {
      const { call, refund } = await waiting(spec);
      await refund(1000, 50);
      for (const client of [1, 2, 1, 2]) await call(1001, client, 25);
      const waits: number[] = [];
      for (const since of [20, 60, 100, 1200]) waits.push((await call(1000 + since, 1)).retryAfter!);
      const [first] = waits;
      // Two pauses of the kept part of a slow request of 80 ms: about half is kept.
      assert.ok(first >= 20 + 153 && first <= 20 + 160, `${first}`);
      assert.equal(waits, [first, first + 40, first + 80, 1250]);
    });

    for (const interval of [8000, 16_000])
      test(`nothing is reserved beyond a client's next turn, and in a sliding window nothing at all: ${spec.kind} of ${interval} ms`, async () => {
        const { call, refund } = await waiting({ ...spec, interval });
        // Both wait all the time.
        for (let at = 3500; at <= interval - 4500; at += 2000)
          for (const client of [1, 2]) await call(at, client, 1);
        // Of permits that come back so late, a part counts as returned.
        await refund(interval - 4500, interval > 10_000 ? 40 : 2);
        for (const before of [4000, 3000, 2001, 1251]) {
          const at = interval - before;
          await refund(at, 1);
          for (const client of [1, 2])
            assert.ok(
              moments(await call(at, client)).every((moment) => moment === at),
              `at ${at}`,
            );
        }
        // Long after the last refund, it calls no later than when it could reserve.
        const replies = [await call(interval - 400, 1), await call(interval - 400, 2)];
        const reserves = spec.kind === 'fixedWindow';
        assert.is(replies.flatMap(moments).includes(interval), reserves);
        if (!reserves) assert.is(replies[0].retryAfter, interval > 10_000 ? 899 : 400);
      });

    test(`turns begin when most permits come back long after their grants: ${spec.kind}`, async () => {
      const begin = async (age: number, kept: number, permits: number, interval = 1000) => {
        const clients = await fleet({ ...spec, permits, interval });
        const call = (at: number, client: number, count: number) =>
          clients.reserve(at, client, { count, horizon });
        for (const client of [1, 2]) await call(0, client, 40);
        const { epoch } = await call(1, 1, 40);
        for (let sequence = 1; sequence <= permits - kept; sequence++)
          await clients.refund(age, 1, { moment: 0, epoch, count: 1 }, sequence);
        return (await call(age, 2, 40)).inTurn ?? false;
      };
      // At least nine requests fit into a fixed window, and those of a sliding one take less than 200 ms.
      const least = spec.kind === 'fixedWindow' ? 9 : 6;
      for (const [age, kept, permits, begins] of [
        [101, 2, 40, true],
        [100, 2, 40, false],
        [101, 1, least, true],
        [101, 1, least - 1, false],
      ] as const)
        assert.is(await begin(age, kept, permits), begins, `${age} ms, ${kept} of ${permits} kept`);
      // The last reservation is two seconds ahead, so it does not move up.
      assert.is(await begin(1000, 2, 40, 3000), true);
    });

    test(`turns begin when enough permits have come back: ${spec.kind}`, async () => {
      /** How many late refunds begin turns, while two clients wait for one request at a time. */
      const begunBy = async (permits: number): Promise<number> => {
        for (let count = 1; ; count++) {
          const clients = await fleet({ ...spec, permits, interval: 1000 });
          const refundable: { client: number; moment: number; epoch: number }[] = [];
          const due = [0, 0];
          for (let at = 0; at < 1900; at++)
            for (const client of [0, 1]) {
              if (at < due[client]) continue;
              const reply = await clients.reserve(at, client, { horizon: 1 });
              const [moment] = moments(reply);
              if (moment > 1001 && moment < 1800) refundable.push({ client, moment, epoch: reply.epoch });
              due[client] = Math.max(at + 1, moment);
            }
          const refunded = refundable.slice(0, count);
          assert.is(refunded.length, count);
          for (const [i, { client, ...grant }] of refunded.entries())
            await clients.refund(1900, client, { ...grant, count: 1 }, i + 1);
          const { epoch } = refunded[0];
          if ((await clients.reserve(1901, 1, { count: 40, horizon, epoch })).inTurn) return count;
        }
      };
      const isFixed = spec.kind === 'fixedWindow';
      // Three tenths of the last 528 ms, in requests of 25 ms: less of each refund the later it comes.
      assert.is(await begunBy(40), isFixed ? 18 : 20);
      // An eighth of the last 556 ms, in slow requests of 50 ms.
      assert.is(await begunBy(20), isFixed ? 5 : 6);
    });

    test(`turns end three seconds after the last refund: ${spec.kind}`, async () => {
      const after = async (at: number) => {
        const { call, refund } = await waiting(spec);
        await refund(1000, 2);
        for (const client of [1, 2]) await call(1001, client);
        return call(at, 1);
      };
      assert.is((await after(3999)).inTurn, true);
      const reply = await after(4000);
      assert.is(reply.inTurn, undefined);
      assert.ok(moments(reply).every((moment) => moment >= 8000) && grantedIn(reply) > 0);
    });

    test(`permits for a large request are saved up once the others have taken as much: ${spec.kind}`, async () => {
      const { clients, epoch, call, refund } = await waiting({ ...spec, permits: 1000 });
      const callLarge = async (at: number) =>
        grantedIn(await clients.reserve(at, 1, { permits: 10, horizon, epoch }));
      await refund(1000, 1);
      assert.is(await callLarge(1001), 0);
      let [taken, at] = [0, 1000];
      do {
        at += 100;
        await refund(at, 1);
        taken += grantedIn(await call(at, 2));
      } while ((await callLarge(at)) === 0);
      // As soon as ten permits have come back for each client.
      assert.equal([at, taken], [2900, 10]);
    });

    test(`a request of a fifth of a window holds up small ones only until they have taken as much: ${spec.kind}`, async () => {
      const { clients, epoch, call, refund } = await waiting({ ...spec, permits: 1000, interval: 20_000 });
      const callLarge = async (at: number) =>
        grantedIn(await clients.reserve(at, 1, { permits: 200, horizon, epoch }));
      let [taken, at] = [0, 1000];
      do {
        at += 500;
        await refund(at, 50);
        taken += grantedIn(await call(at, 2, 500));
      } while ((await callLarge(at)) === 0);
      assert.equal([at, taken], [5500, 238]);
    });

    test(`a request that may not wait overtakes no client that was overtaken for a second, at any rate: ${spec.kind}`, async () => {
      // A request takes less than a millisecond at the full rate.
      const { call, refund } = await waiting({ ...spec, permits: 20_000 });
      await refund(1000, 1);
      for (const client of [1, 2]) await call(1001, client);
      await call(2050, 3);
      await refund(2060, 2);
      assert.is(grantedIn(await call(2070, 3, 1, 0)), 0);
      // The turn of this one came in time.
      assert.is(grantedIn(await call(2070, 2, 1, 0)), 1);
    });

    test(`each refund prolongs the turns: ${spec.kind}`, async () => {
      const after = async (at: number) => {
        const { call, refund } = await waiting(spec);
        await refund(1000, 1);
        for (const client of [1, 2]) await call(1001, client);
        await refund(2000, 1);
        for (const client of [1, 2]) await call(3000, client);
        return (await call(at, 1)).inTurn ?? false;
      };
      assert.equal([await after(4999), await after(5000)], [true, false]);
    });

    test(`a request that does not wait, or only for less than a turn: ${spec.kind}`, async () => {
      const { clients, call, refund } = await waiting(spec);
      await refund(1000, 20);
      assert.is(grantedIn(await call(1001, 1)), 10);
      // Client 1 waits for its turn, so a request of client 2 that does not wait must not overtake it.
      assert.is(grantedIn(await call(1002, 2, 4, 0)), 0);
      assert.is(await clients.decide(1002, 2), false);
      // One that cannot wait for the next call of its client is not left to it.
      assert.is(grantedIn(await call(1003, 2, 9, 1249)), 9);
      await refund(1004, 8);
      assert.is(grantedIn(await call(1005, 2, 9, 1250)), 5);
    });
  }

  test('clients take turns at low rates and beside large requests, too', async () => {
    for (const [permits, large] of [
      [80, 1],
      [100, 2],
    ]) {
      const clients = await fleet({ ...kinds[1], permits } as LimitSpec);
      const { epoch } = await clients.reserve(0, 1, { count: permits });
      for (const client of [1, 2]) await clients.reserve(10, client, { permits: large, horizon });
      await clients.refund(1000, 1, { moment: 0, epoch, count: 10 });
      const reply = await clients.reserve(1001, 2, { count: 20, horizon, epoch });
      assert.is(reply.inTurn, true, `${permits} permits, requests of ${large}`);
    }
  });

  test('after refunds, a call is granted its part of the free permits of a bucket, and the next a millisecond later', async () => {
    const clients = await fleet({ kind: 'tokenBucket', permits: 100, interval: 1000, burst: 40 });
    const first = await clients.reserve(0, 1, { count: 41, horizon });
    for (const client of [2, 3]) await clients.reserve(0, client, { count: 14, horizon });
    // Without refunds, all go to the first call.
    assert.equal(moments(await clients.reserve(500, 1, { count: 30, horizon })), Array(30).fill(500));
    await clients.refund(500, 1, { moment: 500, epoch: first.epoch, count: 30 });
    const second = await clients.reserve(500, 1, { count: 30, horizon });
    assert.is(second.contenders, 3);
    assert.equal(moments(second), [...Array(14).fill(500), 501]);
    // A request that cannot wait so long takes what is free.
    const third = await clients.reserve(502, 2, { count: 20, maxWait: 1, horizon });
    assert.equal(moments(third), Array(20).fill(502));
  });
});
