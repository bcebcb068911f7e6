import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question =
  'How long do 100 jobs take that request 400 tokens and use 150, compared with jobs that request 150?';

const { RateLimiter, slidingWindow } = library;
type Limiter = InstanceType<typeof RateLimiter<'requests' | 'tokens'>>;

const interval = 6_000;
const limit = {
  requests: slidingWindow({ permits: 60, interval }),
  tokens: slidingWindow({ permits: 10_000, interval }),
};
const jobs = 100;
const used = 150;
/** The time of a job, in ms. */
const takes = 20;

/** Seconds until all jobs are done, divided among the limiters, and calls to the store for each of them. */
async function measure(limiters: Limiter[], estimate: number): Promise<{ seconds: number; calls: number }> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: jobs }, async (_, i) => {
      const permit = await limiters[i % limiters.length].acquire({ requests: 1, tokens: estimate });
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
      const ideal = await measure(open('known before'), used);
      const settled = await measure(open('settled'), 400);
      rows.push([where, ideal.seconds, settled.seconds, settled.seconds / ideal.seconds, settled.calls]);
      for (const redis of connections) redis.disconnect();
    }
  } finally {
    await server.stop();
  }
  printTable(['', 'known, s', 'settled, s', 'ratio', 'calls per permit'], rows);
}
