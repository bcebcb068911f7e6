import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, RateLimiter } from '../../src/index.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { randomOf } from '../support/seed.mjs';
import { until } from '../support/until.ts';
import { Requests } from './requests.ts';

const test = suite<{ server: RedisServer }>('script flush');
test.before(async (context) => {
  context.server = await startRedis();
});
test.after(({ server }) => server.stop());

test('survives flushes of the script cache during use, and charges nothing twice', async ({ server }) => {
  const redis = new Redis(server.port);
  const permits = 1_000_000;
  const limit = fixedWindow({ permits, interval: 86_400_000 });
  const limiter = new RateLimiter({ name: 'flush', limit, redis });
  const requests = new Requests(limiter);
  const random = randomOf('flushes');
  let finished = false;
  let kept = 0;

  let rounds = 0;
  const flushes = (async () => {
    for (let i = 0; !finished; i++) {
      rounds = i;
      await server.command('SCRIPT', 'FLUSH', i % 2 ? 'SYNC' : 'ASYNC');
      await sleep(5);
    }
    return Number(/calls=(\d+)/.exec(await flushStatistics(server))?.[1]);
  })();
  const worker = async () => {
    while (!finished) {
      const { permit } = await requests.ask(1 + Math.floor(3 * random()));
      if (permit && random() < 0.5) await permit.refund();
      else kept += Number(permit?.permits ?? 0);
      if (random() < 0.2) await limiter.availablePermits();
      if (random() < 0.2 && (await limiter.decide()).granted) kept++;
      await sleep(2);
    }
  };
  const workers = Array.from({ length: 5 }, worker);
  const isEnough = async () => rounds > 30 && requests.asked > 100;
  await until('there are enough flushes and requests', isEnough, { within: 60_000 });
  finished = true;
  await Promise.all(workers);

  assert.ok((await flushes) > 20);
  assert.ok(requests.asked > 100);
  assert.equal(requests.errors, []);
  assert.is(await limiter.availablePermits(), permits - kept);
  redis.disconnect();
});

async function flushStatistics(server: RedisServer): Promise<string> {
  const statistics = String(await server.command('INFO', 'commandstats'));
  return statistics.split('\n').find((line) => line.startsWith('cmdstat_script|flush')) ?? '';
}

test.run();
