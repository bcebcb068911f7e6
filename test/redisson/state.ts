import type { Redis } from 'ioredis';
import { redissonKeys } from '../support/redissonKeys.ts';
import { api } from './redissonSuite.ts';

/** One entry of the log. */
export interface LogEntry {
  /** Epoch milliseconds, by the clock of the writer. */
  readonly at: number;
  readonly permits: number;
}

/** The state of a limiter in Redis, read at one moment. */
export interface State {
  readonly value: number | undefined;
  readonly log: readonly LogEntry[];
  /** The sum of the log's permits. */
  readonly used: number;
}

/** Reads the state of the limiter `api`: all clients', or one client's. */
export async function stateOf(redis: Redis, clientId?: string): Promise<State> {
  const keys = redissonKeys(api, clientId);
  const [value, permits] =
    clientId === undefined ? [keys.value, keys.permits] : [keys.clientValue, keys.clientPermits];
  const [[, left], [, members]] = (await redis
    .multi()
    .get(value)
    .zrangeBuffer(permits, '0', '-1', 'WITHSCORES')
    .exec()) as [[null, string | null], [null, (Buffer | number)[] | [Buffer, number][]]];
  const log = pairsOf(members).map(([member, score]) => ({
    at: Number(score),
    permits: member.readUInt32LE(member.length - 4),
  }));
  return {
    value: left === null ? undefined : Number(left),
    log,
    used: log.reduce((sum, entry) => sum + entry.permits, 0),
  };
}

/** RESP3 has pairs, RESP2 a flat list. */
function pairsOf(members: readonly unknown[]): [Buffer, unknown][] {
  if (Array.isArray(members[0])) return members as [Buffer, unknown][];
  return Array.from({ length: members.length / 2 }, (_, i) => [members[2 * i] as Buffer, members[2 * i + 1]]);
}

/** Adds evenly spaced entries of one permit each to the log of `api`, and makes `value` agree. */
export async function fillLog(redis: Redis, count: number, from: number, to = from): Promise<void> {
  const { config, value, permits } = redissonKeys(api);
  await redis.eval(
    `local count, from, to = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
    local before = redis.call('zcard', KEYS[3])
    for i = 1, count do
      local random = string.format('%016d', before + i)
      local at = math.floor(from + (to - from) * i / count)
      redis.call('zadd', KEYS[3], at, struct.pack('Bc0I', #random, random, 1))
    end
    redis.call('set', KEYS[2], redis.call('hget', KEYS[1], 'rate') - before - count)`,
    3,
    config,
    value,
    permits,
    count,
    from,
    to,
  );
}

/** Epoch milliseconds by the server's clock. */
export async function serverNow(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Number(micros) / 1000;
}

/** The number of scripts that the server has run since it started. */
export async function scriptCalls(redis: Redis): Promise<number> {
  const stats = await redis.info('commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

/** The longest run of one script during the work, in milliseconds. */
export async function longestScript(redis: Redis, work: () => Promise<unknown>): Promise<number> {
  await redis.config('SET', 'slowlog-log-slower-than', 0);
  await redis.slowlog('RESET');
  await work();
  const log = (await redis.slowlog('GET', 128)) as [number, number, number, string[]][];
  await redis.config('SET', 'slowlog-log-slower-than', -1);
  const scripts = log.filter(([, , , [command]]) => command.toLowerCase().startsWith('eval'));
  return Math.max(...scripts.map(([, , micros]) => Number(micros))) / 1000;
}
