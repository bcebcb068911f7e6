import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fixedWindow,
  RateLimiter,
  RateLimiterGroup,
  StoreUnavailableError,
  tokenBucket,
} from '../../src/index.ts';
import { aboutIoredis, clientName, withOptions } from '../support/anyClient.ts';
import { startSentinels } from '../support/redisSentinel.ts';
import { callsOf } from '../support/scriptCalls.ts';
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

aboutIoredis(test, 'decisions over other clients share no calls')(
  'decisions that are asked together during a failover are made exactly once, and share calls after it, too',
  async () => {
    const trio = await startSentinels();
    const redis = new Redis({ sentinels: trio.addresses, name: trio.name, maxRetriesPerRequest: null });
    redis.on('error', () => {});
    const permits = 60;
    const limit = fixedWindow({ permits, interval: 600_000 });
    const group = new RateLimiterGroup({ name: 'api', limit, redis, storeTimeout: 60_000 });
    const keys = Array.from({ length: 32 }, (_, i) => `user ${i}`);
    /** The numbers of remaining permits that the grants of each key reported, in their order. */
    const granted = new Map(keys.map((key) => [key, [] as number[]]));
    const decideAll = () =>
      Promise.all(
        keys.map((key) =>
          group
            .get(key)
            .decide()
            .then((decision) => decision.granted && granted.get(key)!.push(decision.remaining)),
        ),
      );
    try {
      for (let i = 0; i < 2; i++) await decideAll();
      const old = await trio.master();
      // Nothing is lost: the replica has all grants, and the old master makes none that it could not replicate.
      await until('the replica has all grants', async () => (await redis.call('WAIT', 1, 1_000)) === 1);
      await old.command('CLIENT', 'PAUSE', 60_000, 'WRITE');
      const held = decideAll();
      const master = await trio.failover();
      // The sentinels do the same, once the pause is over.
      await old.command('REPLICAOF', master.host, master.port);
      await old.command('CLIENT', 'KILL', 'TYPE', 'normal');
      const during = Array.from({ length: 5 }, decideAll);
      await Promise.all([held, ...during]);
      assert.is(redis.stream.remotePort, master.port);
      // The new master had loaded no script.
      assert.match(await redis.info('errorstats'), 'errorstat_NOSCRIPT');
      assert.is(await callsOf(redis, decideAll), 2);
      for (let i = 0; i < permits; i++) await decideAll();
      const all = Array.from({ length: permits }, (_, i) => permits - 1 - i);
      for (const [key, remaining] of granted) assert.equal(remaining, all, key);
    } finally {
      await group.close();
      redis.disconnect();
      await trio.stop();
    }
  },
);

test.run();
