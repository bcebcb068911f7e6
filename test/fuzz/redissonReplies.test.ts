import { test } from 'uvu';
import { RateType, RedissonRateLimiter } from '../../src/index.ts';
import { answeringRedis } from '../support/answeringRedis.ts';
import { promise } from '../support/campaign.ts';
import { assertStoreError } from './endOf.ts';
import { wrongRedissonReply } from './wrongReplies.ts';

type Call = (limiter: RedissonRateLimiter) => Promise<unknown>;

const calls: [title: string, script: keyof typeof wrongRedissonReply, call: Call][] = [
  ['acquire', 'acquire', (limiter) => limiter.acquire()],
  ['tryAcquire', 'acquire', (limiter) => limiter.tryAcquire()],
  ['availablePermits', 'available', (limiter) => limiter.availablePermits()],
  ['release', 'release', (limiter) => limiter.release(3)],
  ['setRate', 'setRate', (limiter) => limiter.setRate(RateType.OVERALL, 5, 1_000)],
  ['expire', 'expire', (limiter) => limiter.expire(5)],
];

for (const [title, script, call] of calls)
  promise(
    `${title} on Redisson's keys rejects a malformed reply with a StoreError`,
    800,
    wrongRedissonReply[script],
    async (reply) => {
      const limiter = new RedissonRateLimiter(
        answeringRedis(() => reply),
        'fuzzed',
      );
      await assertStoreError(call(limiter));
      await limiter.close();
    },
  );

test.run();
