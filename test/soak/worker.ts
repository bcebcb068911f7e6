import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisStore } from '../../src/stores/redis/redisStore.ts';
import { timedStore } from '../../src/stores/redis/timedStore.ts';
import { RecordedLimiter, type Request } from '../history/recordedLimiter.ts';
import { HistoryWriter } from '../history/writer.ts';
import { randomOf } from '../support/seed.mjs';
import { limits } from './limits.ts';

/*
 * One process of the soak. Its arguments are the port of Redis (or of a proxy to it), its name, and the folder of the
 * histories. It sends 0 when it is ready, starts when it receives its end time, and then sends its heap once a second.
 */

const [port, name, folder] = process.argv.slice(2);
const random = randomOf(name);
const redis = new Redis(Number(port), { retryStrategy: () => 50, maxRetriesPerRequest: null });
redis.on('error', () => {});
process.send!(0);
const [until] = (await once(process, 'message')) as [number];
const isOver = () => Date.now() > until;

const limiters = Object.entries(limits).map(
  ([kind, limit]) =>
    new RecordedLimiter(
      { name: kind, process: name, limit, store: timedStore(redisStore(redis), redis, 5_000) },
      new HistoryWriter(`${folder}/${kind}`, name),
    ),
);

/** One waiting request at a time: repeats as soon as it has ended, and uses the permit at random as users do. */
async function wait(limiter: RecordedLimiter): Promise<void> {
  while (!isOver()) {
    const permits = 1 + Math.floor(3 * random());
    const timeout = random() < 0.2 ? 3_000 * random() : Infinity;
    const request: Request = limiter.ask(permits, timeout);
    const change = random() < 0.15 ? setTimeout(request.cancel, 2_000 * random()) : undefined;
    const permit = await request.ended;
    clearTimeout(change);
    if (!permit) {
      // Without Redis, requests may fail at once.
      await sleep(20);
      continue;
    }
    const whim = random();
    if (whim < 0.1) await limiter.refund(permit, 1 + Math.floor(permits * random())).catch(() => {});
    else if (whim < 0.2) await limiter.settle(permit, Math.floor(2 * permits * random())).catch(() => {});
    else if (whim < 0.3) await limiter.limiter.decide(1).catch(() => {});
  }
}

const sample = setInterval(() => {
  globalThis.gc?.();
  process.send!(process.memoryUsage().heapUsed);
}, 1_000);
await Promise.all(limiters.flatMap((limiter) => Array.from({ length: 5 }, () => wait(limiter))));
clearInterval(sample);
for (const limiter of limiters) await limiter.close();
redis.disconnect();
process.disconnect();
