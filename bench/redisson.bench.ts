import { Redis } from 'ioredis';
import { redissonKeys as keysOf } from '../src/redisson/keys.ts';
import { bytesOf, entryOf } from '../src/redisson/logEntry.ts';
import { redissonScripts } from '../src/redisson/scripts.ts';
import { scriptOf } from '../src/stores/redis/scripts.ts';
import { fillLog, longestScript, serverNow } from '../test/redisson/state.ts';
import { acquireScript } from '../test/support/jvmScripts.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { redissonKeys } from '../test/support/redissonKeys.ts';
import { printTable } from './support/table.ts';

export const question =
  'How much server time does one request on the keys of Redisson take, compared with the original?';

const name = 'api';
const minute = 60_000;
/** Rounds in which each client makes a batch of calls: other load of the machine affects all alike. */
const rounds = 60;
const batch = 500;

type Ask = () => Promise<unknown>;

/** Requests one permit as a JVM client does; over the same connection as ours, so that only the scripts differ. */
function original(redis: Redis): Ask {
  const script = scriptOf(redis, 'original', acquireScript('4.6'));
  const { config, value, clientValue, permits, clientPermits } = redissonKeys(name);
  let count = 0;
  return () =>
    script(
      [config, value, clientValue, permits, clientPermits],
      [1, Date.now(), (++count).toString().padStart(16, '0')],
    );
}

/** Requests one permit as our queue does. */
function ours(redis: Redis): Ask {
  const { acquire } = redissonScripts(redis);
  const { all } = keysOf(name, 'bench');
  let count = 0;
  return () => acquire(all, [entryOf(bytesOf('bench.', ++count), 1), 1]);
}

const clients = [original, ours];

/** A limiter with a log of `permits` of the last half minute, or of other moments. */
async function prepare(
  redis: Redis,
  rate: number,
  held: number,
  { from = -minute / 2, to = -1, interval = minute, keepAlive = 0 } = {},
): Promise<void> {
  await redis.flushdb();
  await redis.hset(name, 'rate', rate, 'interval', interval, 'type', 0, 'keepAliveTime', keepAlive);
  if (keepAlive > 0) await redis.pexpire(name, keepAlive);
  const now = Math.floor(await serverNow(redis));
  if (held > 0) await fillLog(redis, held, now + from, now + to);
}

const histories: [string, (redis: Redis) => Promise<void>, unsealed?: true][] = [
  ['granted, log of 100', (redis) => prepare(redis, 1e9, 100)],
  ['granted, log of 10,000', (redis) => prepare(redis, 1e9, 10_000)],
  ['granted, log of 100,000', (redis) => prepare(redis, 1e9, 100_000)],
  ['the same, without a seal every 500 calls', (redis) => prepare(redis, 1e9, 100_000), true],
  ['granted, while grants of 100 ms ago expire', (redis) => prepare(redis, 1e9, 0, { interval: 100 })],
  ['granted, with a keep-alive', (redis) => prepare(redis, 1e9, 100, { keepAlive: 5 * minute })],
  ['refused, log of 20', (redis) => prepare(redis, 20, 20)],
  ['refused, log of 100', (redis) => prepare(redis, 100, 100)],
  ['refused, log of 100,000', (redis) => prepare(redis, 100_000, 100_000)],
  ['refused, with a keep-alive', (redis) => prepare(redis, 20, 20, { keepAlive: 5 * minute })],
  ['50 per 10 ms, granted or refused', (redis) => prepare(redis, 50, 0, { interval: 10 })],
];

/** The server's mean time in microseconds on each call of a batch. */
async function serverTime(redis: Redis, ask: Ask): Promise<number> {
  await redis.config('RESETSTAT');
  await Promise.all(Array.from({ length: batch }, ask));
  const stats = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'))!;
  return Number(stats[2]) / Number(stats[1]);
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Each client on its own database, in turns. The ratio is the median of the ratios of the rounds. */
async function perCall(connect: (db: number) => Redis): Promise<void> {
  const redises = clients.map((_, db) => connect(db));
  const asks = clients.map((client, i) => client(redises[i]));
  const rows: (string | number)[][] = [];
  for (const [title, prepared, unsealed] of histories) {
    const times: number[][] = clients.map(() => []);
    for (const redis of redises) await prepared(redis);
    // Waits until `value` is sealed, which takes several calls with a long log.
    do for (const [i, redis] of redises.entries()) await serverTime(redis, asks[i]);
    while (Number(await redises[1].call('PEXPIRETIME', redissonKeys(name).value)) < 0);
    for (let round = 0; round < rounds; round++)
      for (const [i, redis] of redises.entries()) {
        // As left by a JVM client that has changed `value`.
        if (unsealed) await redis.persist(redissonKeys(name).value);
        times[i].push(await serverTime(redis, asks[i]));
      }
    const ratios = times[1].map((time, round) => time / times[0][round]);
    const best = times.map((own) => Math.min(...own));
    rows.push([title, ...times.map(median), median(ratios), ...best, best[1] / best[0]]);
  }
  for (const redis of redises) redis.disconnect();
  printTable(['µs a call', 'original', 'ours', 'ratio', 'best: original', 'ours', 'ratio'], rows);
}

/** The state before the first call: a log of 100,000 grants within an interval, and the age of the last one. */
const first: [string, { ago: number; lost: boolean }][] = [
  ['all of 100,000 have expired', { ago: minute, lost: false }],
  ['all but 500', { ago: minute * 0.995, lost: false }],
  ['most of them', { ago: minute * 0.9, lost: false }],
  ['half of them', { ago: minute / 2, lost: false }],
  ['none, and `value` is lost', { ago: 0, lost: true }],
];

/** The longest server time of the first dozen calls, which include deferred work. */
async function firstCalls(redis: Redis): Promise<void> {
  const count = 100_000;
  const rows: (string | number)[][] = [];
  for (const [title, { ago, lost }] of first) {
    const times: number[] = [];
    for (const client of clients) {
      const ask = client(redis);
      // The first script of a connection is compiled, which is not measured here.
      await prepare(redis, 1, 0);
      await ask();
      const runs: number[] = [];
      for (let run = 0; run < 5; run++) {
        await prepare(redis, count, count, { from: 1 - ago - (lost ? minute / 2 : minute), to: -ago - 1 });
        if (lost) await redis.del(redissonKeys(name).value);
        const work = async () => {
          for (let i = 0; i < 12; i++) await ask();
        };
        // A JVM client's script fails on an empty log, after the same server time.
        runs.push(await longestScript(redis, () => work().catch(() => {})));
      }
      times.push(median(runs));
    }
    rows.push([title, ...times, times[1] / times[0]]);
  }
  printTable(['ms, the longest of 12 first calls', 'original', 'ours', 'ratio'], rows);
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const connect = (db: number) => new Redis(server.port, { db });
  await perCall(connect);
  console.log();
  const redis = connect(0);
  await firstCalls(redis);
  redis.disconnect();
  await server.stop();
}
