import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { answeringRedis } from '../support/answeringRedis.ts';
import { promise } from '../support/campaign.ts';
import { assertStoreError } from './endOf.ts';
import { wrongReply } from './wrongReplies.ts';

const limit = slidingWindow({ permits: 5, interval: 1_000 });

type Call = (limiter: RateLimiter) => Promise<unknown>;

const calls: [title: string, script: keyof typeof wrongReply, call: Call][] = [
  ['acquire', 'reserve', (limiter) => limiter.acquire()],
  ['acquire with a timeout', 'reserve', (limiter) => limiter.acquire(1, { timeout: 60_000 })],
  ['tryAcquire', 'reserve', (limiter) => limiter.tryAcquire()],
  ['decide', 'decide', (limiter) => limiter.decide()],
  ['availablePermits', 'decide', (limiter) => limiter.availablePermits()],
  ['release', 'refund', (limiter) => limiter.release(1)],
  ['setRate', 'configure', (limiter) => limiter.setRate(limit)],
  ['trySetRate', 'configure', (limiter) => limiter.trySetRate(limit)],
  ['reset', 'forget', (limiter) => limiter.reset()],
  ['delete', 'forget', (limiter) => limiter.delete()],
  ['pauseFor', 'pause', (limiter) => limiter.pauseFor(10)],
];

for (const [title, script, call] of calls)
  promise(`${title} rejects a malformed reply with a StoreError`, 800, wrongReply[script], async (reply) => {
    const limiter = new RateLimiter({ name: 'fuzzed', limit, redis: answeringRedis(() => reply) });
    await assertStoreError(call(limiter));
    const { granted, queued, reserved } = limiter.stats();
    assert.equal({ granted, queued, reserved }, { granted: 0, queued: 0, reserved: 0 });
    await limiter.close();
  });

test.run();
