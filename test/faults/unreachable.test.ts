import { Redis, type RedisOptions } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AcquireTimeoutError,
  LimiterClosedError,
  RateLimiter,
  StoreUnavailableError,
  slidingWindow,
} from '../../src/index.ts';
import { withOptions } from '../support/anyClient.ts';
import { lostTime } from '../support/lostTime.ts';
import { freePort } from '../support/ports.ts';
import { RedisServer } from '../support/redisServer.ts';
import { Requests } from './requests.ts';

const limit = slidingWindow({ permits: 10, interval: 1000 });

const test = suite<{ port: number; open: (options: RedisOptions) => RateLimiter; opened: Redis[] }>(
  'unreachable Redis',
);
/** Calls wait for the connection. */
const queue = { enableOfflineQueue: true };
test.before.each(async (context) => {
  context.port = await freePort();
  context.opened = [];
  context.open = (options) => {
    const redis = new Redis(context.port, { retryStrategy: () => 20, ...options });
    redis.on('error', () => {});
    context.opened.push(redis);
    return new RateLimiter({ name: 'nowhere', limit, redis });
  };
});
test.after.each(({ opened }) => {
  for (const redis of opened) redis.disconnect();
});

for (const options of [
  { maxRetriesPerRequest: 0 },
  { maxRetriesPerRequest: 1 },
  { enableOfflineQueue: false },
] as RedisOptions[])
  withOptions(test, options)(
    `${JSON.stringify(options)}: every call fails with StoreUnavailableError and its reason`,
    async ({ open }) => {
      const limiter = open(options);
      const calls: (() => Promise<unknown>)[] = [
        () => limiter.acquire(),
        () => limiter.acquire(2, { timeout: 5000 }),
        () => limiter.tryAcquire(),
        () => limiter.decide(),
        () => limiter.availablePermits(),
      ];
      for (const call of calls) {
        const error = await call().then(
          () => 'no error',
          (reason: unknown) => reason,
        );
        assert.instance(error, StoreUnavailableError);
        assert.is((error as StoreUnavailableError).code, 'ERR_SLUICE_UNAVAILABLE');
        const { cause, message } = error as StoreUnavailableError;
        assert.instance(cause, Error);
        assert.ok(message.includes((cause as Error).message));
      }
      const { queued, reserved } = limiter.stats();
      assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
      await limiter.close();
    },
  );

test('closes without waiting for a connection that is never established', async ({ open }) => {
  const limiter = open({ maxRetriesPerRequest: null });
  const refused = limiter.acquire().then(
    () => 'granted',
    (reason: unknown) => reason,
  );
  // The call has to be in flight.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const start = performance.now();
  await limiter.close();
  const lasted = performance.now() - start;
  assert.ok(lasted < 1_500, `it took ${lasted} ms`);
  assert.instance(await refused, LimiterClosedError);
});

withOptions(test, queue)(
  'obeys timeouts and signals while the connection is never established',
  async ({ open }) => {
    const limiter = open({ maxRetriesPerRequest: null });
    const requests = new Requests(limiter);
    const controller = new AbortController();
    const lost = lostTime();
    setTimeout(() => controller.abort('no longer'), 100);
    const [late, cancelled] = await Promise.all([
      requests.ask(1, { timeout: 200 }),
      requests.ask(1, { signal: controller.signal }),
    ]);
    const busy = lost();
    assert.instance(late.error, AcquireTimeoutError);
    assert.match(
      (late.error as Error).message,
      /is not available within \d+ ms, as the store has not replied; check its connection/,
    );
    assert.ok(late.lasted >= 200 && late.lasted < 450 + busy, `it took ${late.lasted} ms`);
    assert.is(cancelled.error, 'no longer');
    assert.ok(cancelled.lasted < 350 + busy, `it took ${cancelled.lasted} ms`);
  },
);

withOptions(test, queue)(
  'grants waiting requests in order once the connection is established',
  async ({ open, port }) => {
    const requests = new Requests(open({ maxRetriesPerRequest: null }));
    requests.askMany(15);
    const server = new RedisServer(port);
    await server.start();
    try {
      await requests.allEnded();
      assert.equal(
        requests.endings.map(({ index, permit }) => permit && index),
        Array.from({ length: 15 }, (_, i) => i),
      );
    } finally {
      await server.stop();
    }
  },
);

withOptions(test, { maxRetriesPerRequest: 1 })(
  'grants again after a failure, once Redis is available',
  async ({ open, port }) => {
    const limiter = open({ maxRetriesPerRequest: 1 });
    const failed = await limiter.acquire().catch((reason: unknown) => reason);
    assert.instance(failed, StoreUnavailableError);
    const server = new RedisServer(port);
    await server.start();
    try {
      let permit: unknown;
      while (!permit) permit = await limiter.acquire().catch(() => undefined);
      assert.is(await limiter.availablePermits(), 9);
    } finally {
      await server.stop();
    }
  },
);

test.run();
