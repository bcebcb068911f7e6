import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/index.ts';
import { overBucket, overSliding } from '../properties/oracle.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redisServer.ts';
import { randomOf } from '../support/seed.mjs';
import { assertValid, recordedLimiter } from './histories.ts';
import { Requests, standing } from './requests.ts';

const interval = 500;
const permits = 100;
const lasts = 4000;

const limits = [
  { kind: 'slidingWindow', permits, interval, resolution: 1, over: overSliding },
  { kind: 'tokenBucket', permits, interval, burst: 50, over: overBucket },
] as const;

for (const { over, ...limit } of limits)
  aboutIoredis(test, 'it sends lost calls again')(
    `three processes whose replies are cut at random never exceed a ${limit.kind}, and every request ends`,
    async () => {
      const random = randomOf(`cuts ${limit.kind}`);
      const server = await startRedis();
      const members = await Promise.all([1, 2, 3].map(() => openMember(server.port, limit, random)));
      let finished = false;

      /** Requests repeatedly; cancels and refunds now and then. */
      async function wait({ requests }: (typeof members)[number]): Promise<void> {
        while (!finished) {
          const signal = random() < 0.2 ? AbortSignal.timeout(Math.ceil(300 * random())) : undefined;
          const ending = await requests.ask(1 + Math.floor(3 * random()), { signal });
          if (ending.permit && random() < 0.1) await requests.refund(ending);
        }
      }

      async function cutAtRandom(): Promise<void> {
        while (!finished) {
          members[Math.floor(3 * random())].proxy.cutReplies(1 + Math.floor(2 * random()));
          await sleep(20 + 130 * random());
        }
      }

      const waiters = members.flatMap((member) => Array.from({ length: 10 }, () => wait(member)));
      const cuts = cutAtRandom();
      const from = Date.now();
      await sleep(lasts);
      finished = true;
      await Promise.all([cuts, ...waiters]);
      for (const { requests } of members) await requests.allEnded();

      const kept = members.flatMap(({ requests }) =>
        requests.endings.filter(({ returned }) => returned === 0),
      );
      const grants = standing(kept.flatMap(({ permit }) => permit ?? []));
      assert.is(over(limit as never, grants), undefined);
      const unavailable = members.flatMap(({ requests }) => requests.errors);
      assert.not(unavailable.some((error) => error instanceof StoreUnavailableError));

      // By the store's own count: free permits and grants are within the limit.
      const { limiter } = members[0].requests;
      if (limit.kind === 'slidingWindow') {
        const free = await limiter.availablePermits();
        const [seconds, micros] = (await server.command('TIME')) as string[];
        const since = Number(seconds) * 1000 + Number(micros) / 1000 - interval;
        const taken = grants.reduce((sum, { t, n }) => (t > since ? sum + n : sum), 0);
        assert.ok(free + taken <= permits, `${free} free, ${taken} taken`);
      }

      const sent = members.reduce((sum, { proxy }) => sum + proxy.cuts, 0);
      const used = grants.reduce((sum, { n }) => sum + n, 0) / ((permits * lasts) / interval);
      console.log(`${limit.kind}: ${sent} replies cut, utilisation ${used.toFixed(3)}`);
      assert.ok(sent > 20, `${sent} replies cut`);
      assertValid(
        members.map(({ requests }) => requests),
        { faults: [[from, Date.now()]] },
      );
      for (const { redis, proxy } of members) {
        redis.disconnect();
        await proxy.close();
      }
      await server.stop();
    },
  );

/** A limiter with its own connection and wire. */
async function openMember(port: number, limit: LimitSpec, random: () => number) {
  const proxy = await startProxy(port);
  const redis = new Redis(proxy.port, { retryStrategy: () => 5 + 45 * random() });
  redis.on('error', () => {});
  return { proxy, redis, requests: new Requests(recordedLimiter('cut', limit, redis)) };
}

test.run();
