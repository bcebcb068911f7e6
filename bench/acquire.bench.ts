import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { startRedis } from '../test/support/redisServer.ts';
import { perSecond } from './support/hungry.ts';
import { library } from './support/library.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many permits a second can one process acquire, at a limit that is never reached?';

const { RateLimiter, slidingWindow, tokenBucket } = library;
const permits = 1e9;

/** Each way to acquire one permit, by its name. */
function ways(redis: Redis): [string, () => Promise<unknown>][] {
  const memory = new RateLimiter({ name: 'memory', limit: tokenBucket({ permits, interval: 1_000 }) });
  const bucket = new RateLimiter({ name: 'bucket', redis, limit: tokenBucket({ permits, interval: 1_000 }) });
  const window = new RateLimiter({
    name: 'window',
    redis,
    limit: slidingWindow({ permits, interval: 1_000 }),
  });
  const peer = new RateLimiterRedis({ storeClient: redis, points: permits, duration: 1 });
  return [
    ['rate-limiter-flexible, Redis (fixed window)', () => peer.consume('key')],
    ['tokenBucket, Redis', () => bucket.acquire()],
    ['slidingWindow, Redis', () => window.acquire()],
    ['tokenBucket, memory', () => memory.acquire()],
  ];
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  const callers = [1, 64, 512, 4_096];
  const rows: (string | number)[][] = [];
  for (const [name, acquire] of ways(redis)) {
    await perSecond(64, acquire, 200);
    const rates: number[] = [];
    for (const count of callers) rates.push(await perSecond(count, acquire));
    const base = rows.length === 0 ? rates : (rows[0].slice(1, callers.length + 1) as number[]);
    rows.push([name, ...rates, ...rates.map((rate, i) => `${(rate / base[i]).toPrecision(2)}×`)]);
  }
  printTable(['permits/s, at callers', ...callers.map(String), ...callers.map((n) => `ratio ${n}`)], rows);
  redis.disconnect();
  await server.stop();
}
