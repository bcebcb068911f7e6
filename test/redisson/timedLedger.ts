import type { Redis } from 'ioredis';
import { redissonKeys } from '../../src/redisson/keys.ts';
import { openRedissonLedger } from '../../src/redisson/redissonLedger.ts';
import type { RedissonScripts } from '../../src/redisson/scripts.ts';
import { scriptOf } from '../../src/stores/redis/scripts.ts';
import {
  newestGrants,
  outcome,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type Run,
} from '../../src/stores/store.ts';
import { plainTexts } from './plainTexts.ts';
import { api } from './redissonSuite.ts';

/** Where the tests keep the time that the scripts read. */
const clock = 'clock';

/** The result of a run: the numbers granted, waiting, refused or impossible. */
export interface Fate {
  granted: number;
  left: number;
  refused: number;
  never: number;
}

/** The scripts on a real server, at a time set by the test, changed accordingly. */
export function timedLedger(redis: Redis, change = (lua: string) => lua) {
  const scripts = Object.fromEntries(
    Object.entries(plainTexts).map(([name, lua]) => [
      name,
      scriptOf(
        redis,
        `timed_${name}`,
        // A log counted just now by the server's own clock may be counted again.
        change(lua.replace(/BELIEVED = \d+/, 'BELIEVED = 0')).replaceAll(
          "redis.call('TIME')",
          `redis.call('HMGET', '${clock}', 's', 'us')`,
        ),
      ),
    ]),
  ) as RedissonScripts;
  const keys = redissonKeys(api, 'client');
  const ledger = openRedissonLedger(api, keys, 'line-1', scripts);
  let refunds = 0;
  const answer = <T>(ask: (reply: Reply<T>) => void) =>
    new Promise<T>((resolve, reject) => ask((error, value) => (error ? reject(error) : resolve(value as T))));
  const give = (refund: Pick<Refund, 'moment' | 'epoch' | 'cost' | 'count'>) =>
    answer<RefundReply>((reply) => ledger.refund([{ ...refund, source: 'redis' }], ++refunds, reply));

  return {
    /** Sets the time: epoch microseconds. */
    async setTime(us: number): Promise<void> {
      await redis.hset(clock, 's', Math.floor(us / 1_000_000), 'us', us % 1_000_000);
    },
    async acquire(runs: readonly Run[]): Promise<{ reply: ReserveReply; fates: Fate[] }> {
      const request = { runs, horizon: 20, held: 0, epoch: 0 };
      const reply = await answer<ReserveReply>((done) => ledger.reserve(request, done));
      return { reply, fates: fatesOf(runs, reply) };
    },
    available: () => answer<number[]>((reply) => ledger.peek(reply)).then(([permits]) => permits),
    release: (permits: number) => give({ moment: newestGrants, epoch: 0, cost: [permits], count: 1 }),
    refund: (moment: number, epoch: number, permits: number) =>
      give({ moment, epoch, cost: [permits], count: 1 }),
    setRate: (when: 'new' | 'any' | 'known', rate: number, interval: number, keepState: boolean) =>
      scripts.setRate(keys.all, [when, rate, interval, 0, 0, keepState ? 1 : 0]),
  };
}

function fatesOf(runs: readonly Run[], { segments }: ReserveReply): Fate[] {
  let next = 0;
  return runs.map(({ count }) => {
    const fate: Fate = { granted: 0, left: 0, refused: 0, never: 0 };
    for (let answered = 0; answered < count; next++) {
      const segment = segments[next];
      answered += segment.count;
      if (segment.delay >= 0) fate.granted += segment.count;
      else if (segment.delay === outcome.queued) fate.left += segment.count;
      else if (segment.delay === outcome.exceedsLimit) fate.never += segment.count;
      else fate.refused += segment.count;
    }
    return fate;
  });
}
