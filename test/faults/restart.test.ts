import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/index.ts';
import { overSliding } from '../properties/oracle.ts';
import { aboutIoredis, clientName, unexplained, withOptions } from '../support/anyClient.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { randomOf } from '../support/seed.mjs';
import { until } from '../support/until.ts';
import { assertValid, recordedLimiter } from './histories.ts';
import { Requests, rises, standing } from './requests.ts';

const [permits, interval] = [20, 200];
const spec = { kind: 'slidingWindow', permits, interval, resolution: 1 } as const;

interface Context {
  server: RedisServer;
  opened: Redis[];
  open: (options: RedisOptions) => Requests;
}

const test = suite<Context>('Redis killed and restarted');
test.before.each(async (context) => {
  const server = await startRedis();
  context.server = server;
  context.opened = [];
  context.open = (options) => {
    const redis = new Redis(server.port, { retryStrategy: () => 50, ...options });
    redis.on('error', () => {});
    context.opened.push(redis);
    // However long a restart takes on a busy machine.
    return new Requests(recordedLimiter('restart', spec, redis, { storeTimeout: 60_000 }));
  };
});
test.after.each(async ({ opened, server }) => {
  for (const redis of opened) redis.disconnect();
  await server.stop();
});

/**
 * Kills the server once every limiter has a grant, and restarts it when the reservations are over: it has lost its
 * grants, so the limit counts anew from there. Returns that moment.
 */
async function killAndRestart(
  server: RedisServer,
  all: Requests[],
  whenDown = (_requests: Requests) => true,
): Promise<number> {
  await until('each has a permit', async () => all.every(({ permits }) => permits.length > 0), { every: 5 });
  await server.kill();
  await until('the reservations are over', async () =>
    all.every((requests) => requests.reserved === 0 && whenDown(requests)),
  );
  await sleep(interval);
  const restarted = Date.now();
  await server.start();
  return restarted;
}

function assertNeverOver(all: Requests[], restarted: number): void {
  const granted = all.flatMap((requests) => requests.permits);
  const before = granted.filter(({ grantedAt }) => grantedAt < restarted);
  const after = granted.filter(({ grantedAt }) => grantedAt >= restarted);
  assert.ok(before.length > 0 && after.length > 0);
  assert.is(overSliding(spec, standing(before)), undefined);
  assert.is(overSliding(spec, standing(after)), undefined);
  assertValid(all, { losses: [restarted] });
}

withOptions(test, { enableOfflineQueue: true })(
  'grants requests that ioredis queues for a reconnect after the restart, in order, within the limit',
  async (context) => {
    const { server, open } = context;
    const all = [open({ maxRetriesPerRequest: null }), open({ maxRetriesPerRequest: null })];
    for (const requests of all) requests.askMany(60);
    const restarted = await killAndRestart(server, all);
    await Promise.all(all.map((requests) => requests.allEnded()));
    assertNeverOver(all, restarted);
    for (const requests of all) {
      assert.equal(unexplained(requests.errors), []);
      assert.ok(rises(requests.endings.map(({ index }) => index)));
    }
  },
);

aboutIoredis(test, 'maxRetriesPerRequest')(
  'rejects requests that ioredis gives up, and grants new ones after the restart',
  async (context) => {
    const { server, open } = context;
    const all = [open({ maxRetriesPerRequest: 1 }), open({ maxRetriesPerRequest: 0 })];
    for (const requests of all) requests.askMany(60);
    const restarted = await killAndRestart(server, all, (requests) => {
      if (requests.errors.length > 0) return true;
      // A client on a slow machine may have reserved for all of its requests, and would make no call.
      void requests.ask();
      return false;
    });
    await Promise.all(all.map((requests) => requests.allEnded()));
    for (const requests of all) {
      for (const error of requests.errors) assert.instance(error, StoreUnavailableError);
      const failed = requests.errors.length;
      // The connection may be about to be established.
      while (!(await requests.ask()).permit) await sleep(20);
      requests.askMany(30);
      await requests.allEnded();
      assert.ok(requests.permits.length >= requests.asked - failed - 20);
    }
    assertNeverOver(all, restarted);
  },
);

test('ends every request under repeated kills and restarts under load', async ({ server, open }) => {
  const all = [open({ maxRetriesPerRequest: null }), open({ maxRetriesPerRequest: clientName ? null : 1 })];
  const random = randomOf('restarts');
  let finished = false;
  const waiters = all.flatMap((requests) =>
    Array.from({ length: 8 }, async () => {
      while (!finished) {
        const { permit } = await requests.ask();
        // Without a server, requests that ioredis gives up would be repeated at once.
        if (!permit) await sleep(10);
      }
    }),
  );
  const losses: number[] = [];
  for (let i = 0; i < 3; i++) {
    await sleep(150 + 200 * random());
    losses.push(await server.restart());
  }
  await sleep(200);
  finished = true;
  await Promise.all(all.map((requests) => requests.allEnded()));
  await Promise.all(waiters);
  assert.equal(unexplained(all[0].errors), []);
  for (const error of all[1].errors) assert.instance(error, StoreUnavailableError);
  assertValid(all, { losses });
});

test.run();
