import { Redis } from 'ioredis';
import { from, lastValueFrom, type Observable, take } from 'rxjs';
import type { Limit } from '../src/index.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { farAway } from './support/farAway.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question = 'How many values a second are pulled from an input, compared with a pushed input?';

const { RateLimiter, fromThrottled, slidingWindow, throttleDistributed, tokenBucket } = library;
type Limiter = InstanceType<typeof RateLimiter>;

/** A timeout that never fires makes it request one permit at a time. */
const never = 2 ** 31;
const ways: [string, (values: number[], limiter: Limiter) => Observable<number>][] = [
  ['throttleDistributed', (values, limiter) => from(values).pipe(throttleDistributed(limiter))],
  ['fromThrottled', fromThrottled],
  ['fromThrottled, async', (values, limiter) => fromThrottled(one(values), limiter)],
  ['fromThrottled, one at a time', (values, limiter) => fromThrottled(values, limiter, { timeout: never })],
];

async function* one(values: number[]) {
  yield* values;
}

/** Values a second, and calls per value. */
async function measure(redis: Redis, limit: Limit, count: number, way: number) {
  const limiter = new RateLimiter({ name: `pull ${way}`, limit, redis });
  const values = Array.from({ length: count }, (_, i) => i);
  const start = performance.now();
  await lastValueFrom(ways[way][1](values, limiter).pipe(take(count)));
  const rate = (count * 1_000) / (performance.now() - start);
  const calls = limiter.stats().calls / count;
  await limiter.close();
  return { rate, calls };
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const far = await farAway(server.port, 5);
  const near = new Redis(server.port);
  const distant = new Redis(far.port);
  const free = tokenBucket({ permits: 1e9, interval: 1_000 });
  const thousand = slidingWindow({ permits: 10, interval: 10 });
  for (let way = 0; way < ways.length; way++) await measure(near, free, 10_000, way);
  for (const [title, redis, limit, count] of [
    ['no limit, Redis here', near, free, 20_000],
    ['no limit, Redis 5 ms away', distant, free, 2_000],
    ['1,000/s, Redis 5 ms away', distant, thousand, 2_000],
  ] as const) {
    await near.flushall();
    const rows: (string | number)[][] = [];
    let first = 0;
    for (let way = 0; way < ways.length; way++) {
      const { rate, calls } = await measure(redis, limit, count, way);
      first ||= rate;
      rows.push([ways[way][0], rate, rate / first, calls]);
    }
    printTable([title, 'values/s', 'ratio', 'calls per value'], rows);
    console.log();
  }
  near.disconnect();
  distant.disconnect();
  far.close();
  await server.stop();
}
