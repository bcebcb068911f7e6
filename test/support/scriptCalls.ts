import type { Redis } from 'ioredis';

/** The calls of scripts while `work` runs, on the server of a connection. */
export async function callsOf(redis: Redis, work: () => Promise<unknown>): Promise<number> {
  await redis.config('RESETSTAT');
  await work();
  const stats = await redis.info('commandstats');
  return Array.from(stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g), ([, n]) => Number(n)).reduce(
    (a, b) => a + b,
    0,
  );
}
