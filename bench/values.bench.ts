import { Redis } from 'ioredis';
import { concatMap, count, from, lastValueFrom, type MonoTypeOperatorFunction, map, of, range } from 'rxjs';
import type { Permits } from '../src/index.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { medians, type Way } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many values a second pass through an operator, at a limit that is never reached, and without a limit?';

const { RateLimiter, throttleDistributed, tokenBucket } = library;
const limit = tokenBucket({ permits: 1e9, interval: 1_000 });
const without = 'concatMap(of), no limit';

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  const passing = (name: string, values: number, operator: MonoTypeOperatorFunction<number>): Way => [
    name,
    async () => {
      const start = performance.now();
      await lastValueFrom(range(0, values).pipe(operator, count()));
      return (values * 1_000) / (performance.now() - start);
    },
  ];
  const ways = [
    passing(
      without,
      1_000_000,
      concatMap((value) => of(value)),
    ),
  ];
  for (const [store, options] of [
    ['memory', {}],
    ['Redis', { redis }],
  ] as const) {
    const limiter = new RateLimiter({ name: 'values', limit, ...options });
    const awaited = concatMap((value: number) => from(limiter.acquire()).pipe(map(() => value)));
    ways.push(
      passing(`concatMap(acquire), ${store}`, 5_000, awaited),
      passing(`throttleDistributed, ${store}`, 1_000_000, throttleDistributed<number, Permits>(limiter)),
    );
  }
  const rates = await medians(ways);
  const base = rates.get(without)!;
  printTable(
    ['', 'values/s', 'ratio'],
    Array.from(rates, ([name, rate]) => [name, rate, rate / base]),
  );
  redis.disconnect();
  await server.stop();
}
