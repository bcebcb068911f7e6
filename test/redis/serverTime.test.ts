// The calls of a client without a clock of its own, as all clients but those of some tests.
import * as assert from 'uvu/assert';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { DecideReply, LastMoment, ReserveReply } from '../../src/stores/store.ts';
import { limitOf } from '../properties/specs.ts';
import { openRedisLedger } from '../support/redisLedger.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('the server’s time');

const limits = [
  { kind: 'slidingWindow', permits: 50, interval: 60_000, resolution: 1 },
  { kind: 'fixedWindow', permits: 50, interval: 60_000, align: 'first' },
  { kind: 'tokenBucket', permits: 50, interval: 60_000, burst: 50 },
] as const;

for (const spec of limits)
  for (const name of ['', 'a'])
    test(`a ${spec.kind} takes it from the server, ${name ? 'by the slow path' : 'by the fast path'}`, async ({
      redis,
    }) => {
      const config = { name: 'n', prefix: 'p', clientId: 'me', names: [name], limits: [limitOf(spec)] };
      const ledger = openRedisLedger(config, scriptsOf(redis));
      const serverMs = async () => {
        const [seconds, microseconds] = await redis.time();
        return Number(seconds) * 1000 + Number(microseconds) / 1000;
      };
      const reserve = (count: number, last?: LastMoment) =>
        new Promise<ReserveReply>((resolve, reject) =>
          ledger.reserve(
            {
              runs: [{ count, cost: [1], maxWait: 0 }],
              horizon: 20,
              held: 0,
              epoch: 0,
              ...(last && { last }),
            },
            (error, reply) => (error ? reject(error) : resolve(reply!)),
          ),
        );
      const decide = (last?: LastMoment) =>
        new Promise<DecideReply>((resolve, reject) =>
          ledger.decide([1], (error, reply) => (error ? reject(error) : resolve(reply!)), last),
        );
      const from = await serverMs();
      const { now, epoch } = await reserve(1);
      assert.ok(now >= from && now <= (await serverMs()), `${now} after ${from}`);
      const past = { moment: Math.floor(now) - 1, epoch };
      const ahead = { moment: Math.ceil(now) + 50_000, epoch };
      for (const last of [undefined, past]) {
        const { now, segments } = await reserve(2, last);
        assert.ok(now >= from && now <= (await serverMs()), `${now} after ${from}`);
        assert.equal(segments, [{ count: 2, delay: 0, retryAfter: 0 }]);
        const { granted, resetAfter } = await decide(last);
        assert.ok(granted && resetAfter > 0 && resetAfter <= 60_001, `${granted}, ${resetAfter} ms`);
      }
      // A request is not granted before its client's reservations.
      const refused = await decide(ahead);
      assert.not(refused.granted);
      assert.ok(refused.retryAfter > 0 && refused.retryAfter <= 50_001, `${refused.retryAfter} ms`);
      assert.ok((await reserve(1, ahead)).segments[0].delay < 0);
      assert.is((await decide()).available[0], 42);
    });

test.run();
