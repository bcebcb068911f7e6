import type { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/index.ts';
import { scriptOf, scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { openRedisLedger } from '../../test/support/redisLedger.ts';
import { leastDecision } from './leastDecision.ts';

export const users = 20_000;
export const minute = 60_000;

/** Makes one call of a script. */
export type Ask = () => Promise<unknown>;

/** A clock in microseconds advanced by each call, or the server's. */
type Clock = (() => number) | undefined;

export function steppingClock(step: number): Clock {
  let now = Date.now() * 1_000;
  return () => {
    now += step * 1_000;
    return now;
  };
}

export function ledgerOf(
  redis: Redis,
  limit: Limit,
  clock: Clock,
  key?: string,
  scripts = scriptsOf(redis),
): ControlledLedger {
  const config = { name: 'api', key, prefix: 'sluice', clientId: 'bench', names: [''], limits: [limit] };
  return openRedisLedger(config, scripts, clock);
}

/** Requests one permit with a known epoch. */
export function reserver(ledger: ControlledLedger): Ask {
  let epoch = 0;
  const runs = [{ count: 1, cost: [1], maxWait: Infinity }];
  return () =>
    new Promise<void>((resolve, reject) =>
      ledger.reserve({ runs, horizon: 20, held: 0, epoch }, (error, reply) => {
        if (error) reject(error);
        else if (reply!.segments[0].delay !== 0) reject(new Error('not granted at once'));
        else epoch = reply!.epoch;
        resolve();
      }),
    );
}

/** The permits of a user: so few that the log of a sliding window needs no list of its own. */
export const permits = 8;

/** The limits of a user. */
export const ofUser: [string, Limit][] = [
  ['sliding window', slidingWindow({ permits, interval: 10 * minute })],
  ['fixed window', fixedWindow({ permits, interval: 10 * minute })],
  ['token bucket', tokenBucket({ permits, interval: 10 * minute })],
];

/** Asks for decisions of so many users, each in its turn, which are all granted, or all refused. */
interface OfUsers {
  count?: number;
  granted?: boolean;
}

/** Each user once, in a shuffled order of its own for each pass. */
function* visits(count = users): Generator<number, never> {
  for (let pass = 1; ; pass++) for (let i = 0; i < count; i++) yield (i * 7_919 + pass * 104_729) % count;
}

/** One decision for the next user, by the least script that can make one. */
export function leastAsk(redis: Redis, { count, granted = true }: OfUsers = {}): Ask {
  const script = scriptOf(redis, 'floor', leastDecision);
  const next = visits(count);
  return async () => {
    const tag = `{sluice:api:user ${next.next().value}}`;
    const reply = await script([tag, `${tag}:control`], [`f${permits},600000,0`, '0bench']);
    if (Number(reply) >= 0 !== granted) throw new Error(granted ? 'refused' : 'granted');
  };
}

/** One decision for the next user, by the script of rate-limiter-flexible. */
export function peerAsk(redis: Redis, { count, granted = true }: OfUsers = {}): Ask {
  const peer = new RateLimiterRedis({ storeClient: redis, points: permits, duration: 600 });
  const next = visits(count);
  return async () => {
    const reply = peer.consume(`user ${next.next().value}`, 1);
    if (granted) await reply;
    else if (await reply.catch(() => false)) throw new Error('granted');
  };
}

/** One decision for the next user, by ours. */
export function decider(redis: Redis, limit: Limit, { count = users, granted = true }: OfUsers = {}): Ask {
  const scripts = scriptsOf(redis);
  const open = (i: number) => ledgerOf(redis, limit, undefined, `user ${i}`, scripts);
  const ledgers = Array.from({ length: count }, (_, i) => open(i));
  const next = visits(count);
  return () =>
    new Promise<void>((resolve, reject) =>
      ledgers[next.next().value].decide([1], (error, reply) => {
        if (error || reply!.granted !== granted) reject(error ?? new Error(granted ? 'refused' : 'granted'));
        else resolve();
      }),
    );
}
