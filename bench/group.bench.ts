import { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { startRedis } from '../test/support/redisServer.ts';
import { heapUsed } from './support/heap.ts';
import { library } from './support/library.ts';
import { median, sideBySide } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'What does a limit for each of 20,000 users cost, and what does one more limiter cost?';

const { fixedWindow, RateLimiter, RateLimiterGroup, slidingWindow, tokenBucket } = library;
const users = Array.from({ length: 20_000 }, (_, i) => `user-${i}`);
const permits = 1_000;
const interval = 60_000;
const limits = {
  tokenBucket: tokenBucket({ permits, interval }),
  fixedWindow: fixedWindow({ permits, interval }),
  slidingWindow: slidingWindow({ permits, interval }),
};
const kinds = ['tokenBucket', 'fixedWindow', 'slidingWindow'] as const;

/** Calls a second, with one call for each user, and `callers` at the same time. */
async function ask(decide: (user: string) => Promise<unknown>, callers: number): Promise<number> {
  const start = performance.now();
  let next = 0;
  const caller = async () => {
    while (next < users.length) await decide(users[next++]);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return (users.length * 1_000) / (performance.now() - start);
}

async function compare(
  where: string,
  peer: (user: string) => Promise<unknown>,
  open: (limit: keyof typeof limits) => (user: string) => Promise<unknown>,
): Promise<void> {
  for (const callers of [1, 64, 512]) {
    // Sequential calls are slow.
    const rounds = callers === 1 && where === 'Redis' ? 1 : 5;
    const [bucket, fixed, sliding] = kinds.map(open);
    const rates = await sideBySide(
      {
        'rate-limiter-flexible, consume()': () => ask(peer, callers),
        'tokenBucket, decide()': () => ask(bucket, callers),
        'fixedWindow, decide()': () => ask(fixed, callers),
        'slidingWindow, decide()': () => ask(sliding, callers),
      },
      rounds,
    );
    printTable(
      [`${where}, ${callers} at the same time`, 'calls/s', 'ratio'],
      Object.entries(rates).map(([name, own]) => [
        name,
        median(own),
        median(own.map((rate, i) => rate / rates['rate-limiter-flexible, consume()'][i])),
      ]),
    );
    console.log();
  }
}

/** The time to create a limiter, in microseconds, and its bytes on the heap. */
function making(make: (i: number) => unknown, count: number): { us: number; bytes: number } {
  const kept: unknown[] = new Array(count);
  const before = heapUsed();
  const start = performance.now();
  for (let i = 0; i < count; i++) kept[i] = make(i);
  const us = ((performance.now() - start) * 1_000) / count;
  return { us, bytes: (heapUsed() - before) / count };
}

async function costs(redis: Redis): Promise<void> {
  const limit = limits.tokenBucket;
  const ways: Record<string, () => { us: number; bytes: number }> = {
    'new RateLimiter({ redis })': () =>
      making((i) => new RateLimiter({ name: `n${i}`, limit, redis }), 1_000),
    'new RateLimiter()': () => making((i) => new RateLimiter({ name: `n${i}`, limit }), 1_000),
    'a key of a group, Redis': () => {
      const group = new RateLimiterGroup({ name: 'g', limit, redis });
      return making((i) => group.get(users[i]), users.length);
    },
    'a key of a group, memory': () => {
      const group = new RateLimiterGroup({ name: 'g', limit });
      return making((i) => group.get(users[i]), users.length);
    },
  };
  const rows = Object.entries(ways).map(([name, way]) => {
    const rounds = Array.from({ length: 7 }, way).slice(2);
    return [name, median(rounds.map(({ us }) => us)), median(rounds.map(({ bytes }) => bytes))];
  });
  printTable(['one more', 'µs', 'bytes'], rows);
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  await costs(redis);
  console.log();
  const memory = new RateLimiterMemory({ points: permits, duration: interval / 1_000 });
  await compare(
    'memory',
    (user) => memory.consume(user),
    (kind) => {
      const group = new RateLimiterGroup({ name: kind, limit: limits[kind] });
      return (user) => group.get(user).decide();
    },
  );
  const stored = new RateLimiterRedis({ storeClient: redis, points: permits, duration: interval / 1_000 });
  await compare(
    'Redis',
    (user) => stored.consume(user),
    (kind) => {
      const group = new RateLimiterGroup({ name: kind, limit: limits[kind], redis });
      return (user) => group.get(user).decide();
    },
  );
  redis.disconnect();
  await server.stop();
}
