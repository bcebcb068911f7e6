import { Redis } from 'ioredis';
import { redissonKeys as keysOf } from '../src/redisson/keys.ts';
import { openRedissonLedger } from '../src/redisson/redissonLedger.ts';
import { redissonScripts } from '../src/redisson/scripts.ts';
import { fillLog, longestScript, serverNow } from '../test/redisson/state.ts';
import { acquireScript } from '../test/support/jvmScripts.ts';
import { startRedis } from '../test/support/redisServer.ts';
import { redissonKeys } from '../test/support/redissonKeys.ts';
import { printTable } from './support/table.ts';

export const question =
  'How long does one request on the keys of Redisson keep the server, beside what the original does?';

const name = 'api';
const minute = 60_000;
const calls = 20_000;
const batch = 500;

type Ask = () => Promise<unknown>;

/** Asks for one permit as a JVM client does: by the script's hash, so that its text is not what is measured. */
async function original(redis: Redis): Promise<Ask> {
  const sha = (await redis.script('LOAD', acquireScript('4.6'))) as string;
  const { config, value, clientValue, permits, clientPermits } = redissonKeys(name);
  const keys = [config, value, clientValue, permits, clientPermits];
  let count = 0;
  return () =>
    redis.evalsha(sha, keys.length, ...keys, 1, Date.now(), (++count).toString().padStart(16, '0'));
}

/** Asks for one permit that will not wait, as our line does. */
async function ours(redis: Redis): Promise<Ask> {
  const ledger = openRedissonLedger(name, keysOf(name, 'bench'), 'bench.', redissonScripts(redis));
  const request = { runs: [{ count: 1, cost: [1], maxWait: 0 }], horizon: 20, held: 0, epoch: 0 };
  const ask = () =>
    new Promise((resolve, reject) =>
      ledger.reserve(request, (error, reply) => (error ? reject(error) : resolve(reply))),
    );
  await redis.hset(name, 'rate', 1, 'interval', 1, 'type', 0);
  await ask();
  return ask;
}

const clients = [original, ours];

/** A limiter whose log holds so many permits of the last half minute. */
async function prepare(redis: Redis, rate: number, held: number): Promise<void> {
  await redis.flushall();
  await redis.hset(name, 'rate', rate, 'interval', minute, 'type', 0, 'keepAliveTime', 0);
  const now = Math.floor(await serverNow(redis));
  if (held > 0) await fillLog(redis, held, now - minute / 2, now - 1);
}

/** The mean time in microseconds that the server spends on a call. */
async function serverTime(redis: Redis, ask: Ask): Promise<number> {
  await redis.config('RESETSTAT');
  for (let i = 0; i < calls; i += batch) await Promise.all(Array.from({ length: batch }, ask));
  const stats = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(await redis.info('commandstats'))!;
  return Number(stats[2]) / Number(stats[1]);
}

const histories: [string, (redis: Redis) => Promise<void>][] = [
  ['granted, log of 100', (redis) => prepare(redis, 1e9, 100)],
  ['granted, log of 10,000', (redis) => prepare(redis, 1e9, 10_000)],
  ['granted, log of 100,000', (redis) => prepare(redis, 1e9, 100_000)],
  ['refused, log of 20', (redis) => prepare(redis, 20, 20)],
  ['refused, log of 100', (redis) => prepare(redis, 100, 100)],
  ['refused, log of 100,000', (redis) => prepare(redis, 100_000, 100_000)],
];

async function perCall(redis: Redis): Promise<void> {
  const nothing = (await redis.script('LOAD', 'return 1')) as string;
  await redis.evalsha(nothing, 0);
  const rows: (string | number)[][] = [['a script that does nothing', ...clients.map(() => 0)]];
  const least = await serverTime(redis, () => redis.evalsha(nothing, 0));
  rows[0] = ['a script that does nothing', least, least, 1];
  for (const [title, prepared] of histories) {
    const times: number[] = [];
    for (const client of clients) {
      const ask = await client(redis);
      await prepared(redis);
      times.push(await serverTime(redis, ask));
    }
    rows.push([title, ...times, times[1] / times[0]]);
  }
  printTable(['µs a call', 'original', 'ours', 'ratio'], rows);
}

/** The first call after a window of 100,000 grants, so many milliseconds after the last of them. */
async function firstCall(redis: Redis): Promise<void> {
  const count = 100_000;
  const rows: (string | number)[][] = [];
  for (const [title, ago] of [
    ['all of 100,000 have expired', minute],
    ['all but 500', minute * 0.995],
    ['most of them', minute * 0.9],
    ['half of them', minute / 2],
  ] as const) {
    const times: number[] = [];
    for (const client of clients) {
      const ask = await client(redis);
      await prepare(redis, count, 0);
      const now = Math.floor(await serverNow(redis));
      await fillLog(redis, count, now - ago - minute, now - ago - 1);
      times.push(await longestScript(redis, ask));
    }
    rows.push([title, ...times, times[1] / times[0]]);
  }
  printTable(['ms for the first call', 'original', 'ours', 'ratio'], rows);
}

export async function run(): Promise<void> {
  const server = await startRedis();
  const redis = new Redis(server.port);
  await perCall(redis);
  console.log();
  await firstCall(redis);
  redis.disconnect();
  await server.stop();
}
