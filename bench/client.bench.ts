import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { startRedis } from '../test/support/redisServer.ts';
import { perSecond } from './support/hungry.ts';
import { library } from './support/library.ts';
import { processorTime } from './support/processorTime.ts';
import { median, sideBySide } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'How many permits a second over Redis, against PING on the same connection, and against another limiter?';

const { RateLimiter, slidingWindow, tokenBucket } = library;
const permits = 1e9;
const interval = 1_000;

/** Runs an operation `times` times in sequence. Returns the mean time in microseconds. */
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
    const times: number[] = [];
    /** The rate per second, and, in `times`, the processor time of a permit. */
    const measured = (work: () => Promise<unknown>) => async () => {
      const [before, start] = [await processorTime(redis), performance.now()];
      const rate = await perSecond(callers, work, 200);
      const seconds = (performance.now() - start) / 1_000;
      times.push(((await processorTime(redis)) - before) / (rate * seconds));
      return rate;
    };
    const ways = {
      'rate-limiter-flexible': measured(() => peer.consume('key')),
      'tokenBucket, acquire()': measured(() => bucket.acquire()),
      'slidingWindow, acquire()': measured(() => window.acquire()),
    };
    const [rounds, before] = [9, 2];
    const many = await sideBySide(ways, rounds, before);
    const names = Object.keys(ways) as (keyof typeof ways)[];
    const timesOf = (way: number) => times.filter((_, i) => i % names.length === way).slice(before);
    console.log();
    printTable(
      [`${callers} callers`, 'permits/s', 'ratio', 'processor, µs', 'less by'],
      names.map((name, way) => [
        name,
        median(many[name]),
        median(many[name].map((rate, i) => rate / many['rate-limiter-flexible'][i])),
        median(timesOf(way)),
        median(timesOf(way).map((time, i) => timesOf(0)[i] / time)),
      ]),
    );
  }
  redis.disconnect();
  await server.stop();
}
