import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question = 'How much memory does Redis use for a full window of single grants?';

const { RateLimiter, RateType, RedissonRateLimiter, slidingWindow } = library;
const interval = 600_000;
const batch = 200;

/** Ways to acquire permits in sequence, at a limit of `permits`. */
const ways: [string, (redis: Redis, permits: number) => Promise<() => Promise<unknown>>][] = [
  [
    'RedissonRateLimiter',
    async (redis, permits) => {
      const limiter = new RedissonRateLimiter(redis, 'bench');
      await limiter.setRate(RateType.OVERALL, permits, interval);
      return () => limiter.tryAcquire();
    },
  ],
  [
    'RateLimiter, slidingWindow',
    async (redis, permits) => {
      const limit = slidingWindow({ permits, interval });
      const limiter = new RateLimiter({ name: 'bench', redis, limit });
      return () => limiter.tryAcquire();
    },
  ],
];

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  const sizes = [1_000, 10_000, 100_000];
  const rows: (string | number)[][] = [];
  for (const [name, open] of ways) {
    const row: (string | number)[] = [name];
    for (const permits of sizes) {
      await redis.flushall();
      const take = await open(redis, permits);
      for (let i = 0; i < permits; i += batch) await Promise.all(Array.from({ length: batch }, take));
      let bytes = 0;
      for (const key of await redis.keys('*')) bytes += (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
      row.push(bytes / 1024);
    }
    rows.push(row);
  }
  printTable(['KB, at grants', ...sizes.map((size) => size.toLocaleString('en'))], rows);
  redis.disconnect();
  await server.stop();
}
