import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { fixedWindow, type Limit, RateLimiterGroup, slidingWindow, tokenBucket } from '../src/index.ts';
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
import { median, sideBySide } from './support/sideBySide.ts';
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
async function manyUsers(connect: (db: number, enableReadyCheck?: boolean) => Redis): Promise<void> {
  const rows: (string | number)[][] = [];
  const passes = 5;
  for (const [title, limit] of ofUser) {
    // Without a ready check, each decision is a call of its own, as with one caller.
    const redises = [connect(2), connect(3, false), connect(4)];
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

/** The server's time in microseconds on one decision: in its scripts, and all of its main thread. */
async function timesOf(redis: Redis, callers: number, decide: (user: string) => Promise<unknown>) {
  const thread = async () => {
    const info = await redis.info('cpu');
    const parts = info.matchAll(/used_cpu_(?:sys|user)_main_thread:([\d.]+)/g);
    return Array.from(parts, ([, seconds]) => Number(seconds) * 1e6).reduce((a, b) => a + b);
  };
  await redis.config('RESETSTAT');
  const before = await thread();
  let next = 0;
  const caller = async () => {
    while (next < users) await decide(`user ${next++}`);
  };
  await Promise.all(Array.from({ length: callers }, caller));
  const whole = await thread();
  const stats = /cmdstat_evalsha:calls=\d+,usec=(\d+)/.exec(await redis.info('commandstats'))!;
  return { scripts: Number(stats[1]) / users, whole: (whole - before) / users };
}

/** Decisions of a group for known users, by callers that each wait for theirs: in turns, each way on its own database. */
async function atTheSameTime(connect: (db: number) => Redis): Promise<void> {
  const [redis, ...own] = [5, 6, 7, 8].map((db) => connect(db));
  const peer = new RateLimiterRedis({ storeClient: redis, points: 1_000, duration: 60 });
  const limits = [slidingWindow, fixedWindow, tokenBucket].map((of) =>
    of({ permits: 1_000, interval: minute }),
  );
  const ways = [
    {
      name: 'rate-limiter-flexible',
      redis,
      decide: (user: string) => peer.consume(user) as Promise<unknown>,
    },
    ...limits.map((limit, i) => {
      const group = new RateLimiterGroup({ name: 'api', limit, redis: own[i] });
      return { name: limit.kind, redis: own[i], decide: (user: string) => group.get(user).decide() };
    }),
  ];
  for (const { redis, decide } of ways) await timesOf(redis, 512, decide);
  for (const callers of [1, 64, 512]) {
    const times = await sideBySide(
      Object.fromEntries(
        ways.map(({ name, redis, decide }) => [name, () => timesOf(redis, callers, decide)]),
      ),
      callers === 1 ? 1 : 9,
    );
    const rows = ways.map(({ name }) => {
      const [own, theirs] = [times[name], times['rate-limiter-flexible']];
      const column = (of: 'scripts' | 'whole') => [
        median(own.map((time) => time[of])),
        median(own.map((time, i) => time[of] / theirs[i][of])),
      ];
      return [name, ...column('whole'), ...column('scripts')];
    });
    const title = `µs of the server, one decision, ${callers} at the same time`;
    printTable([title, 'main thread', 'ratio', 'scripts', 'of the peer’s'], rows);
    console.log();
  }
  for (const { redis } of ways) redis.disconnect();
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
  const connect = (db: number, enableReadyCheck = true) => new Redis(server.port, { db, enableReadyCheck });
  await oneLimiter(connect);
  console.log();
  await manyUsers(connect);
  console.log();
  await atTheSameTime(connect);
  const redis = connect(0);
  await memory(server, redis);
  redis.disconnect();
  await server.stop();
}
