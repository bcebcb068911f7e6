import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis } from '../support/redisServer.ts';
import { standing } from './requests.ts';

test('a refund sent again after a long reconnect takes nothing from the request that got its moment', async () => {
  const [permits, interval] = [1, 1000];
  const server = await startRedis();
  const proxy = await startProxy(server.port);
  // It reconnects when the first grant has expired, and the refunded moment still counts.
  const broken = new Redis(proxy.port, { retryStrategy: () => 1300 });
  broken.on('error', () => {});
  const redis = new Redis(server.port);
  const limit = slidingWindow({ permits, interval });
  const leaves = new RateLimiter({ name: 'late', limit, redis: broken });
  const stays = new RateLimiter({ name: 'late', limit, redis });

  const first = await stays.acquire();
  const controller = new AbortController();
  const reserved = leaves.acquire(1, { signal: controller.signal }).catch(() => {});
  while (leaves.stats().reserved === 0) await sleep(5);
  proxy.cutReplies();
  controller.abort();
  await reserved;
  while (proxy.cuts === 0) await sleep(5);

  const second = await stays.acquire();
  // Behind the refund on its connection, so the refund has run again by then.
  await leaves.availablePermits();
  const third = await stays.acquire();
  const grants = standing([first, second, third]);
  assert.is(overSliding({ kind: 'slidingWindow', permits, interval, resolution: 1 }, grants), undefined);

  for (const connection of [broken, redis]) connection.disconnect();
  await proxy.close();
  await server.stop();
});

test.run();
