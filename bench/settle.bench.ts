import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question =
  'How long do 100 jobs take that request 400 tokens and use 150, compared with the limit, and with jobs that request 150?';

const { RateLimiter, slidingWindow } = library;
type Limiter = InstanceType<typeof RateLimiter<'requests' | 'tokens'>>;

const interval = 6_000;
const limit = {
  requests: slidingWindow({ permits: 60, interval }),
  tokens: slidingWindow({ permits: 10_000, interval }),
};
const jobs = 100;
const used = 150;
const estimate = 400;
/** The time of a job, in ms. */
const takes = 20;

/**
 * Seconds until the last of the jobs is done, if nothing but the limit holds them back: each takes its estimate as soon as that is
 * free, and gives back the rest when it is done.
 */
function leastSeconds(): number {
  const grants: number[] = [];
  let now = 0;
  while (grants.length < jobs) {
    const counted = grants.filter((at) => at > now - interval);
    const tokens = counted.reduce((sum, at) => sum + (at + takes <= now ? used : estimate), 0);
    if (counted.length < limit.requests.permits && tokens + estimate <= limit.tokens.permits)
      grants.push(now);
    else now++;
  }
  return (now + takes) / 1_000;
}

/** Seconds until all jobs are done, divided among the limiters, and calls to the store for each of them. */
async function measure(limiters: Limiter[], requested: number): Promise<{ seconds: number; calls: number }> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: jobs }, async (_, i) => {
      const permit = await limiters[i % limiters.length].acquire({ requests: 1, tokens: requested });
      await sleep(takes);
      await permit.settle({ tokens: used });
    }),
  );
  const seconds = (performance.now() - start) / 1_000;
  const calls = limiters.reduce((sum, limiter) => sum + limiter.stats().calls, 0) / jobs;
  await Promise.all(limiters.map((limiter) => limiter.close()));
  return { seconds, calls };
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const least = leastSeconds();
  const rows: (string | number)[][] = [];
  try {
    for (const [where, clients] of [
      ['embedded store', 0],
      ['one client over Redis', 1],
      ['three clients over Redis', 3],
    ] as const) {
      const connections = Array.from({ length: clients }, () => new Redis(server.port));
      const open = (name: string): Limiter[] =>
        clients === 0
          ? [new RateLimiter({ name, limit })]
          : connections.map((redis) => new RateLimiter({ name, limit, redis }));
      const known = await measure(open('known before'), used);
      const settled = await measure(open('settled'), estimate);
      rows.push([
        where,
        least,
        known.seconds,
        settled.seconds,
        settled.seconds / least,
        settled.seconds / known.seconds,
        settled.calls,
      ]);
      for (const redis of connections) redis.disconnect();
    }
  } finally {
    await server.stop();
  }
  printTable(
    ['', 'limit, s', 'known, s', 'settled, s', 'to the limit', 'to known', 'calls per permit'],
    rows,
  );
}
