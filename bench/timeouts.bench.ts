import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question = 'What does it cost when many requests time out at once, while Redis does not reply?';

const { RateLimiter, slidingWindow } = library;
const timeout = 2_000;

/** Microseconds of processor time that one time-out takes. */
async function costOf(redis: Redis, count: number): Promise<number> {
  const limit = slidingWindow({ permits: 10, interval: 1_000 });
  const limiter = new RateLimiter({ name: 'bench', redis, limit, storeTimeout: 60_000 });
  const ends = Array.from({ length: count }, () => limiter.acquire(1, { timeout }).catch(() => {}));
  const last = performance.now() + timeout;
  // All timers are due when the loop goes on.
  while (performance.now() < last + 100);
  const before = process.cpuUsage();
  await Promise.all(ends);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / count;
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  await redis.ping();
  server.freeze();
  const rows: (string | number)[][] = [];
  await costOf(redis, 10_000);
  for (const count of [10_000, 30_000, 100_000]) {
    const costs = [];
    for (let round = 0; round < 5; round++) costs.push(await costOf(redis, count));
    rows.push([count.toLocaleString('en'), costs.sort((a, b) => a - b)[2]]);
  }
  printTable(['time-outs at once', 'µs each'], rows);
  redis.disconnect();
  await server.stop();
}
