import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { unexplained } from '../support/anyClient.ts';
import { startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';
import { recordedLimiter } from './histories.ts';
import { assertAllEnded, Load, overWithLosses } from './load.ts';
import { standing } from './requests.ts';

const spec = { kind: 'slidingWindow', permits: 40, interval: 400, resolution: 1 } as const;

/** Kills the server during grants and restarts it at once, three times; returns when, and the grants. */
async function killUnderLoad(config: readonly string[], loses: boolean) {
  const server = await startRedis({ config });
  const connections = [1, 2].map(
    () => new Redis(server.port, { retryStrategy: () => 20, maxRetriesPerRequest: null }),
  );
  try {
    for (const redis of connections) redis.on('error', () => {});
    const loads = connections.map((redis) => new Load(recordedLimiter('killed', spec, redis)));
    const granted = () => loads.flatMap(({ requests }) => requests.permits);
    const losses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const before = granted().length;
      await until('grants go on', async () => granted().length > before + 60);
      losses.push(await server.restart());
    }
    await sleep(spec.interval);
    await assertAllEnded(loads, loses ? { losses } : { faults: losses });
    assert.equal(unexplained(loads.flatMap(({ requests }) => requests.errors)), []);
    return { losses, grants: standing(granted()) };
  } finally {
    for (const redis of connections) redis.disconnect();
    await server.stop();
  }
}

test('never exceeds the limit when killed and restarted with an append-only file and appendfsync always', async () => {
  const { grants } = await killUnderLoad(['appendonly yes', 'appendfsync always'], false);
  assert.is(overSliding(spec, grants), undefined);
});

test('loses at most the grants of the last two seconds with appendfsync everysec', async () => {
  const { grants, losses } = await killUnderLoad(['appendonly yes', 'appendfsync everysec'], true);
  assert.is(overWithLosses(spec, grants, losses), undefined);
});

test('keeps the grants that are older than two seconds with appendfsync everysec', async () => {
  const server = await startRedis({ config: ['appendonly yes', 'appendfsync everysec'] });
  const redis = new Redis(server.port, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  try {
    const limit = limitOf({ ...spec, permits: 30, interval: 60_000 });
    const limiter = new RateLimiter({ name: 'kept', limit, redis, storeTimeout: 30_000 });
    for (let i = 0; i < 10; i++) await limiter.acquire(2);
    await sleep(2_500);
    await limiter.acquire(5);
    await server.restart();
    const available = await limiter.availablePermits();
    assert.ok(available === 5 || available === 10, `${available} permits are available`);
    await limiter.close();
  } finally {
    redis.disconnect();
    await server.stop();
  }
});

test('exceeds the limit by at most one limit per kill without persistence', async () => {
  const { grants, losses } = await killUnderLoad([], true);
  assert.is(overWithLosses(spec, grants, losses), undefined);
});

test.run();
