import { Redis } from 'ioredis';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/index.ts';
import { scriptsOf } from '../src/stores/redis/scripts.ts';
import type { Ledger } from '../src/stores/store.ts';
import { openRedisLedger } from '../test/support/redisLedger.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { printTable } from './support/table.ts';

export const question = 'How much of the server’s time does one reserve take, and how much memory?';

const calls = 20_000;
const batch = 500;

/** Each limit with the milliseconds between two calls: none, or just enough for a new slot. */
const cases: [string, Limit, number][] = [
  ['slidingWindow, same slot', slidingWindow({ permits: 1e6, interval: 60_000 }), 0],
  ['slidingWindow, new slot', slidingWindow({ permits: 1e6, interval: 60_000 }), 60],
  ['slidingWindow, saturated', slidingWindow({ permits: 1_000, interval: 60_000 }), 60],
  ['tokenBucket', tokenBucket({ permits: 1e6, interval: 60_000 }), 1],
  ['fixedWindow', fixedWindow({ permits: 1e6, interval: 60_000 }), 1],
];

/** The mean time in microseconds that the server spends on `calls` calls of a script. */
async function serverTime(redis: Redis, call: () => Promise<unknown>): Promise<number> {
  await redis.config('RESETSTAT');
  for (let i = 0; i < calls; i += batch) await Promise.all(Array.from({ length: batch }, call));
  const stats = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'))!;
  return Number(stats[2]) / Number(stats[1]);
}

/** Requests one permit that may not wait. */
function reserveOne(ledger: Ledger): Promise<void> {
  const runs = [{ count: 1, cost: [1], maxWait: 0 }];
  return new Promise((resolve) => ledger.reserve({ runs, horizon: 20, held: 0, epoch: 0 }, () => resolve()));
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  const nothing = (await redis.script('LOAD', 'return 1')) as string;
  await redis.evalsha(nothing, 0);
  const least = await serverTime(redis, () => redis.evalsha(nothing, 0));
  const rows: (string | number)[][] = [['a script that does nothing', least, 1, 0]];
  for (const [name, limit, step] of cases) {
    await redis.flushall();
    let now = Date.now() * 1_000;
    const clock = () => {
      now += step * 1_000;
      return now;
    };
    const config = { name: 'bench', prefix: 'bench', clientId: 'bench', names: [''], limits: [limit] };
    const ledger = openRedisLedger(config, scriptsOf(redis), clock);
    for (let i = 0; i < 1_100; i++) await reserveOne(ledger);
    const time = await serverTime(redis, () => reserveOne(ledger));
    let bytes = 0;
    for (const key of await redis.keys('*')) bytes += (await redis.memory('USAGE', key)) ?? 0;
    rows.push([name, time, time / least, bytes / 1024]);
  }
  printTable(['', 'µs a call', 'ratio', 'KB'], rows);
  redis.disconnect();
  await server.stop();
}
