// One of several processes that share a limit: prints each call with the moment of its permit, until SIGTERM ends it.
import { hostname } from 'node:os';
import { Redis } from 'ioredis';
import { fromThrottled, RateLimiter, slidingWindow } from 'rxjs-sluice';

const { REDIS_URL = 'redis://127.0.0.1:6379', PERMITS = '6', INTERVAL = '1000' } = process.env;

const redis = new Redis(REDIS_URL);
redis.on('error', (error) => console.error(error.message));
const limiter = new RateLimiter({
  name: 'api',
  limit: slidingWindow({ permits: Number(PERMITS), interval: Number(INTERVAL) }),
  redis,
  fallback: { ratio: 1 / 3 }, // without Redis, each of the three processes grants a third of the limit
});

/** In place of the work of a service. */
function* jobs() {
  for (let job = 1; ; job++) yield job;
}

const work = fromThrottled(jobs(), limiter, { project: (job, permit) => ({ job, permit }) }).subscribe(
  ({ job, permit }) =>
    console.log(`${permit.grantedAt} ${process.env.NAME ?? hostname()} job ${job}, by ${permit.source}`),
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    work.unsubscribe(); // refunds what is reserved, for the other processes
    await limiter.close();
    redis.disconnect();
  });
}
