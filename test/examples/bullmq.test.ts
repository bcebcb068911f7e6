import { Queue, type Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limitedWorker } from '../../examples/bullmq-worker.ts';
import { RateLimiter, slidingWindow } from '../../src/index.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { until } from '../support/until.ts';

interface Context {
  server: RedisServer;
  connection: { host: string; port: number };
  /** The connections of limiters. */
  clients: Redis[];
  workers: Worker[];
  queues: Queue[];
}

const test = suite<Context>('a BullMQ worker');

test.before.each(async (context) => {
  const server = await startRedis();
  const { host, port } = server;
  Object.assign(context, { server, connection: { host, port }, clients: [], workers: [], queues: [] });
});

test.after.each(async ({ server, clients, workers, queues }) => {
  await Promise.all([...workers, ...queues].map((one) => one.close()));
  for (const client of clients) client.disconnect();
  await server.stop();
});

/** A limiter on a connection of its own, as each process has one. */
function limiterOf({ server, clients }: Context, permits: number, interval: number): RateLimiter {
  const redis = new Redis(server.url, { maxRetriesPerRequest: null });
  clients.push(redis);
  return new RateLimiter({ name: 'api', limit: slidingWindow({ permits, interval, resolution: 1 }), redis });
}

function queueOf({ connection, queues }: Context, name: string): Queue {
  const queue = new Queue(name, { connection });
  queues.push(queue);
  return queue;
}

test('workers of two queues share one limit', async (context) => {
  const moments: number[] = [];
  const [permits, interval, jobs] = [5, 400, 16];
  for (const name of ['mail', 'push', 'push']) {
    const { connection, workers } = context;
    const limiter = limiterOf(context, permits, interval);
    const process = async (_: unknown, permit: { grantedAt: number }) => void moments.push(permit.grantedAt);
    workers.push(limitedWorker(name, limiter, process, { connection }));
  }
  for (const name of ['mail', 'push'])
    await queueOf(context, name).addBulk(Array.from({ length: jobs / 2 }, () => ({ name, data: {} })));
  await until('all jobs are done', async () => moments.length === jobs);
  moments.sort((a, b) => a - b);
  for (let i = permits; i < jobs; i++)
    assert.ok(moments[i] - moments[i - permits] >= interval, moments.join());
  assert.ok(moments.at(-1)! - moments[0] < interval * 8, 'it uses the limit');
});

test('a job that would wait too long goes back to the queue, and loses no attempt', async (context) => {
  const limiter = limiterOf(context, 1, 3_000);
  const [queue, done] = [queueOf(context, 'mail'), [] as { data: unknown; attemptsMade: number }[]];
  const worker = limitedWorker(
    'mail',
    limiter,
    async ({ data, attemptsMade }) => void done.push({ data, attemptsMade }),
    { connection: context.connection, timeout: 200 },
  );
  context.workers.push(worker);
  const failures: string[] = [];
  worker.on('failed', (_, error) => failures.push(error.message));
  await queue.addBulk([1, 2].map((data) => ({ name: 'mail', data, opts: { attempts: 1 } })));
  // BullMQ may count the second job as active meanwhile.
  await until('the second job has stopped the queue', async () => {
    const ttl = await queue.getRateLimitTtl();
    return done.length === 1 && ttl > 0;
  });
  await until('both jobs are done', async () => done.length === 2);
  assert.equal(done.map(({ data }) => data).sort(), [1, 2]);
  assert.equal(failures, []);
  assert.is(done[1].attemptsMade, 0);
});

test('an error of the limiter fails the job', async (context) => {
  const limiter = limiterOf(context, 1, 1_000);
  await limiter.close();
  const worker = limitedWorker('mail', limiter, async () => {}, context);
  context.workers.push(worker);
  const failed = new Promise((resolve) => worker.on('failed', (_, error) => resolve(error.name)));
  await queueOf(context, 'mail').add('mail', {});
  assert.is(await failed, 'LimiterClosedError');
});

test.run();
