import { Redis } from 'ioredis';
import { concatMap, count, from, lastValueFrom, map, range } from 'rxjs';
import type { Permits } from '../src/index.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question = 'How many values a second pass through an operator, at a limit that does not bind?';

const { RateLimiter, throttleDistributed, tokenBucket } = library;
const limit = tokenBucket({ permits: 1e9, interval: 1_000 });

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  const rows: (string | number)[][] = [];
  for (const [store, options] of [
    ['memory', {}],
    ['Redis', { redis }],
  ] as const) {
    const limiter = new RateLimiter({ name: 'values', limit, ...options });
    const awaited = concatMap((value: number) => from(limiter.acquire()).pipe(map(() => value)));
    const rate = async (values: number, operator: typeof awaited) => {
      const start = performance.now();
      await lastValueFrom(range(0, values).pipe(operator, count()));
      return (values * 1_000) / (performance.now() - start);
    };
    await rate(10_000, throttleDistributed<number, Permits>(limiter));
    const one = await rate(5_000, awaited);
    const ours = await rate(1_000_000, throttleDistributed<number, Permits>(limiter));
    rows.push([`concatMap(acquire), ${store}`, one, 1], [`throttleDistributed, ${store}`, ours, ours / one]);
  }
  printTable(['', 'values/s', 'ratio'], rows);
  redis.disconnect();
  await server.stop();
}
