import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, StoreUnavailableError, tokenBucket } from '../../src/index.ts';
import { clientName, withOptions } from '../support/anyClient.ts';
import { startSentinels } from '../support/redisSentinel.ts';
import { until } from '../support/until.ts';

withOptions(test, { sentinels: [] })(
  'grants continue after a failover, and Redis is unavailable only during it',
  async () => {
    const trio = await startSentinels();
    const redis = new Redis({
      sentinels: trio.addresses,
      name: trio.name,
      maxRetriesPerRequest: clientName ? null : 3,
    });
    redis.on('error', () => {});
    const limit = tokenBucket({ permits: 100, interval: 1_000, burst: 10 });
    const limiter = new RateLimiter({ name: 'api', limit, redis });
    const endings: { at: number; error?: unknown }[] = [];
    let stopped = false;
    const asking = (async () => {
      while (!stopped) {
        const error = await limiter.acquire().then(
          () => undefined,
          (reason) => reason,
        );
        endings.push({ at: performance.now(), error });
        await sleep(10);
      }
    })();
    try {
      await until('grants come', async () => endings.length > 10);
      const begun = performance.now();
      await trio.failover();
      await until('the new master grants', async () => endings.slice(-20).every(({ error }) => !error));
      const failed = endings.filter(({ error }) => error);
      for (const { error } of failed) assert.instance(error, StoreUnavailableError);
      assert.ok(failed.every(({ at }) => at >= begun));
      // Without a further failure.
      const before = endings.length;
      await until('grants continue', async () => endings.length > before + 50);
      assert.is(endings.filter(({ error }) => error).length, failed.length);
    } finally {
      stopped = true;
      await asking;
      await limiter.close();
      redis.disconnect();
      await trio.stop();
    }
  },
);

test.run();
