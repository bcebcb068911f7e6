// Passes a million values from a synchronous source through a limit that never delays them, and prints the memory used.
import { Redis } from 'ioredis';
import { lastValueFrom, range, tap } from 'rxjs';
import { RateLimiter, slidingWindow, throttleDistributed } from '../../../src/index.ts';

const count = 1_000_000;
const redis = new Redis(process.argv[2]);
const limit = slidingWindow({ permits: 1_000_000_000, interval: 1_000 });
const limiter = new RateLimiter({ name: 'api', limit, redis });
await limiter.acquire();

const heap = () => {
  globalThis.gc!();
  return process.memoryUsage().heapUsed;
};
const before = heap();
let next = 0;
let inOrder = true;
const values = range(0, count).pipe(
  throttleDistributed(limiter),
  tap((value) => {
    inOrder &&= value === next++;
  }),
);
const done = lastValueFrom(values);
const perValue = (heap() - before) / count;
const queued = count - next;
await done;
const left = heap() - before;
await limiter.close();
await redis.quit();
console.log(JSON.stringify({ queued, perValue, left, values: next, inOrder }));
