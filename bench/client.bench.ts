import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { startRedis } from '../test/support/redisServer.ts';
import { perSecond } from './support/hungry.ts';
import { library } from './support/library.ts';
import { median, sideBySide } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many permits a second over Redis, against PING on the same connection, and against another limiter?';

const { RateLimiter, slidingWindow, tokenBucket } = library;
const permits = 1e9;
const interval = 1_000;

/** Runs an operation `count` times in sequence. Returns the mean time in microseconds. */
async function each(work: () => Promise<unknown>, times = 100): Promise<number> {
  const start = performance.now();
  for (let i = 0; i < times; i++) await work();
  return ((performance.now() - start) * 1_000) / times;
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  const bucket = new RateLimiter({ name: 'bucket', redis, limit: tokenBucket({ permits, interval }) });
  const window = new RateLimiter({ name: 'window', redis, limit: slidingWindow({ permits, interval }) });
  const peer = new RateLimiterRedis({ storeClient: redis, points: permits, duration: 1 });
  const nothing = (await redis.script('LOAD', 'return 1')) as string;

  const alone = await sideBySide(
    {
      PING: () => each(() => redis.ping()),
      'a script that does nothing': () => each(() => redis.evalsha(nothing, 0)),
      'tokenBucket, acquire()': () => each(() => bucket.acquire()),
      'slidingWindow, acquire()': () => each(() => window.acquire()),
      'tokenBucket, decide()': () => each(() => bucket.decide()),
      'rate-limiter-flexible, consume()': () => each(() => peer.consume('key')),
    },
    80,
    20,
  );
  printTable(
    ['one caller', 'µs a call', "of PING's rate"],
    Object.entries(alone).map(([name, times]) => [
      name,
      median(times),
      median(times.map((time, i) => alone.PING[i] / time)),
    ]),
  );

  for (const callers of [64, 512]) {
    const many = await sideBySide(
      {
        'rate-limiter-flexible': () => perSecond(callers, () => peer.consume('key'), 200),
        'tokenBucket, acquire()': () => perSecond(callers, () => bucket.acquire(), 200),
        'slidingWindow, acquire()': () => perSecond(callers, () => window.acquire(), 200),
      },
      9,
      2,
    );
    console.log();
    printTable(
      [`${callers} callers`, 'permits/s', 'ratio'],
      Object.entries(many).map(([name, rates]) => [
        name,
        median(rates),
        median(rates.map((rate, i) => rate / many['rate-limiter-flexible'][i])),
      ]),
    );
  }
  redis.disconnect();
  await server.stop();
}
