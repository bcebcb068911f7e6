import { Redis } from 'ioredis';
import type { Limit } from '../src/limits/limit.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { library } from './support/library.ts';
import { median, sideBySide } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question = 'What do timeouts cost, of requests that wait, and of those that time out at once?';

const { RateLimiter, slidingWindow, fixedWindow, tokenBucket } = library;

/** Microseconds of processor time. */
function used(before?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const waiting = 100_000;
const rate = { permits: 1_000, interval: 1_000 };
const turns = 100;

/** Milliseconds that each of the waiting requests may wait: so long that none is refused. */
const kinds: Record<string, (index: number) => number> = {
  none: () => Infinity,
  'all alike': () => 600_000,
  'all different': (index) => 600_000 + ((index * 7_919) % 100_003),
};

/** Microseconds of processor time for each of the requests that wait at the end, while more and more join and some are granted. */
async function costOfWaiting(
  limit: Limit,
  timeoutOf: (index: number) => number,
  redis?: Redis,
): Promise<number> {
  const limiter = new RateLimiter({ name: `waiting-${limit.kind}`, limit, redis });
  globalThis.gc?.();
  const before = process.cpuUsage();
  const start = performance.now();
  for (let turn = 0, index = 0; turn < turns; turn++) {
    for (const end = index + waiting / turns; index < end; index++)
      limiter.acquire(1, { timeout: timeoutOf(index) }).catch(() => {});
    const wait = start + (turn + 1) * 50 - performance.now();
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  const cost = used(before);
  await limiter.close();
  return cost / waiting;
}

async function compareWaiting(redis: Redis): Promise<void> {
  const rows: (string | number)[][] = [];
  const places = [
    [slidingWindow(rate), undefined],
    [fixedWindow(rate), undefined],
    [tokenBucket(rate), undefined],
    [slidingWindow(rate), redis],
  ] as const;

  for (const [limit, client] of places) {
    const ways = Object.entries(kinds).map(
      ([name, timeoutOf]) => [name, () => costOfWaiting(limit, timeoutOf, client)] as const,
    );
    const costs = await sideBySide(Object.fromEntries(ways), 3);
    const ratios = (name: string) => median(costs[name].map((cost, round) => cost / costs.none[round]));
    const { none, ...timed } = costs;
    rows.push([
      `${limit.kind}, ${client ? 'over Redis' : 'in memory'}`,
      median(none),
      ...Object.keys(timed).map(ratios),
    ]);
  }
  const [, ...timed] = Object.keys(kinds);
  printTable(['requests that wait', 'no timeout, µs', ...timed.map((name) => `${name}, ratio`)], rows);
}

const timeout = 2_000;

/** Microseconds of processor time that one time-out takes. */
async function costOf(redis: Redis, count: number): Promise<number> {
  const limit = slidingWindow({ permits: 10, interval: 1_000 });
  const limiter = new RateLimiter({ name: 'bench', redis, limit, storeTimeout: 60_000 });
  const ends = Array.from({ length: count }, () => limiter.acquire(1, { timeout }).catch(() => {}));
  const last = performance.now() + timeout;
  // All timers are due when the loop goes on.
  while (performance.now() < last + 100);
  const before = process.cpuUsage();
  await Promise.all(ends);
  return used(before) / count;
}

async function compareTimeouts(redis: Redis): Promise<void> {
  const rows: (string | number)[][] = [];
  await costOf(redis, 10_000);
  for (const count of [10_000, 30_000, 100_000]) {
    const costs: number[] = [];
    for (let round = 0; round < 5; round++) costs.push(await costOf(redis, count));
    rows.push([count.toLocaleString('en'), median(costs)]);
  }
  printTable(['time-outs at once', 'µs each'], rows);
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  await redis.ping();
  await compareWaiting(redis);
  server.freeze();
  await compareTimeouts(redis);
  redis.disconnect();
  await server.stop();
}
