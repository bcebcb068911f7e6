import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../src/index.ts';
import { scriptOf } from '../src/stores/redis/scripts.ts';
import { acquireScript } from '../test/support/jvmScripts.ts';
import { type RedisServer, startRedis } from '../test/support/redisServer.ts';
import { redissonKeys } from '../test/support/redissonKeys.ts';
import {
  type Ask,
  decider,
  leastAsk,
  ledgerOf,
  minute,
  ofUser,
  peerAsk,
  reserver,
  steppingClock,
  users,
} from './support/serverAsks.ts';
import { median } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question =
  'How much server time does a call take, compared with the scripts of Redisson and rate-limiter-flexible and with the least possible one, and how much memory does one user take?';

const rounds = 31;
const batch = 200;

/** The server's time in microseconds on a call of a script: the median of batches, each the mean of its calls. */
async function serverTime(redis: Redis, ask: Ask, calls = batch): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < calls; i += batch) {
    await redis.config('RESETSTAT');
    await Promise.all(Array.from({ length: batch }, ask));
    const stats = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'))!;
    times.push(Number(stats[2]) / Number(stats[1]));
  }
  return median(times);
}

/** Requests one permit as a JVM client does, over the same connection as ours. */
function original(redis: Redis, step: number): Ask {
  const script = scriptOf(redis, 'original', acquireScript('4.6'));
  const { config, value, clientValue, permits, clientPermits } = redissonKeys('api');
  const keys = [config, value, clientValue, permits, clientPermits];
  let count = 0;
  let now = Date.now();
  return () => {
    now += step;
    return script(keys, [1, now, (++count).toString().padStart(16, '0')]);
  };
}

/** One limiter, compared with Redisson's script, in turns: each on its own database. */
async function oneLimiter(connect: (db: number) => Redis): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const [title, limit, step] of [
    ['sliding window, same slot', slidingWindow({ permits: 1e6, interval: minute }), 0],
    ['sliding window, new slot', slidingWindow({ permits: 1e6, interval: minute }), 60],
    ['fixed window', fixedWindow({ permits: 1e6, interval: minute }), 1],
    ['token bucket', tokenBucket({ permits: 1e6, interval: minute }), 1],
  ] as const) {
    const redises = [connect(0), connect(1)];
    for (const redis of redises) await redis.flushdb();
    const { config } = redissonKeys('api');
    await redises[0].hset(config, 'rate', 1e6, 'interval', minute, 'type', 0, 'keepAliveTime', 0);
    const ledger = ledgerOf(redises[1], limit, steppingClock(step));
    const asks = [original(redises[0], step), reserver(ledger)];
    // Longer than an interval, so that entries expire in both.
    for (const [i, redis] of redises.entries()) await serverTime(redis, asks[i], step > 1 ? 1_200 : batch);
    const times: number[][] = [[], []];
    for (let round = 0; round < rounds; round++)
      for (const [i, redis] of redises.entries()) times[i].push(await serverTime(redis, asks[i]));
    const ratios = times[1].map((time, round) => time / times[0][round]);
    rows.push([title, ...times.map(median), median(ratios)]);
    for (const redis of redises) redis.disconnect();
  }
  printTable(['µs of the server, one reserve', 'Redisson', 'ours', 'ratio'], rows);
}

/** For each limit the peer's script, ours, and the floor, in turns: each on its own database. */
async function manyUsers(connect: (db: number) => Redis): Promise<void> {
  const rows: (string | number)[][] = [];
  const passes = 5;
  for (const [title, limit] of ofUser) {
    const redises = [connect(2), connect(3), connect(4)];
    for (const redis of redises) await redis.flushdb();
    const asks = [peerAsk(redises[0]), decider(redises[1], limit), leastAsk(redises[2])];
    const times: number[][] = [];
    for (let pass = 0; pass < passes; pass++) {
      const turn: number[] = [];
      for (const [i, redis] of redises.entries()) turn.push(await serverTime(redis, asks[i], users));
      times.push(turn);
    }
    for (const [name, some] of [
      ['new', times.slice(0, 1)],
      ['known', times.slice(1)],
    ] as const) {
      const ratio = (way: number) => median(some.map((turn) => turn[way] / turn[0]));
      const all = [0, 1, 2].map((way) => median(some.map((turn) => turn[way])));
      rows.push([`${title}, ${name}`, ...all, ratio(1), ratio(2)]);
    }
    for (const redis of redises) redis.disconnect();
  }
  printTable(
    ['µs of the server, one of 20,000 users', 'peer', 'ours', 'floor', 'ratio', 'floor / peer'],
    rows,
  );
}

/** The memory of the keys of one limiter, after `calls` calls a second apart. */
async function bytesOf(server: RedisServer, redis: Redis, limit: Limit, calls: number): Promise<number> {
  await redis.flushall();
  const ledger = ledgerOf(redis, limit, steppingClock(1_000), 'user 12345');
  for (let i = 0; i < calls; i++) await new Promise<void>((resolve) => ledger.decide([1], () => resolve()));
  let bytes = 0;
  for (const key of await redis.keys('*')) bytes += (await server.command('MEMORY', 'USAGE', key)) as number;
  return bytes;
}

async function memory(server: RedisServer, redis: Redis): Promise<void> {
  const rows: (string | number)[][] = [];
  for (const [title, limit] of ofUser) {
    const row: (string | number)[] = [title];
    for (const calls of [1, 2, 3, 10]) row.push(await bytesOf(server, redis, limit, calls));
    rows.push(row);
  }
  await redis.flushall();
  const peer = new RateLimiterRedis({ storeClient: redis, points: 10, duration: 600 });
  await peer.consume('user 12345', 1);
  const [key] = await redis.keys('*');
  const bytes = (await server.command('MEMORY', 'USAGE', key)) as number;
  rows.push(['rate-limiter-flexible', bytes, bytes, bytes, bytes]);
  printTable(['bytes of one user, by number of calls', '1', '2', '3', '10'], rows);
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const connect = (db: number) => new Redis(server.port, { db });
  await oneLimiter(connect);
  console.log();
  await manyUsers(connect);
  console.log();
  const redis = connect(0);
  await memory(server, redis);
  redis.disconnect();
  await server.stop();
}
