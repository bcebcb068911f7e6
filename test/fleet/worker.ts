import { Redis } from 'ioredis';
import { AcquireTimeoutError, RateLimiter } from '../../src/index.ts';
import { limitOf } from '../properties/specs.ts';
import { randomOf } from '../support/seed.mjs';
import type { Order, Tally } from './protocol.ts';

/*
 * One process of the fleet: always hungry, fickle, and told by its parent when to begin. It is started with the port of
 * the server and its place in the fleet as its arguments, and tells each grant as it comes.
 */

const [port, place] = process.argv.slice(2);
const random = randomOf(`process ${place}`);
const redis = new Redis(Number(port));
await redis.ping();
process.once('message', (order: Order) => void work(order));
process.send!({ kind: 'ready' });

async function work(order: Order): Promise<void> {
  const { limit, waiters, lasts, most, cancel, cancelWithin, refund } = order;
  const limiter = new RateLimiter({ name: 'fleet', limit: limitOf(limit), redis });
  const tally: Tally = { asked: 0, granted: 0, refused: 0, cancelled: 0, refunded: 0, calls: 0, longest: 0 };
  const pending = new Set<AbortController>();
  let over = false;

  /** One waiter: asks again as soon as it has its answer. */
  async function wait(): Promise<void> {
    while (!over) {
      const permits = 1 + Math.floor(most * random());
      const whim = random();
      const controller = new AbortController();
      const change =
        whim < cancel ? setTimeout(() => controller.abort(), cancelWithin * random()) : undefined;
      const timeout = whim >= 1 - order.timeout ? order.timeoutWithin * random() : Infinity;
      pending.add(controller);
      tally.asked++;
      try {
        const permit = await limiter.acquire(permits, { timeout, signal: controller.signal });
        if (random() < refund) {
          tally.refunded++;
          setTimeout(() => permit.refund(), 10 * random());
        } else {
          tally.granted++;
          process.send!({ kind: 'grant', t: permit.grantedAt, n: permits });
        }
      } catch (error) {
        if (error instanceof AcquireTimeoutError) tally.refused++;
        else if (error === controller.signal.reason) tally.cancelled++;
        else throw error;
      }
      clearTimeout(change);
      pending.delete(controller);
    }
  }

  const look = setInterval(() => {
    tally.longest = Math.max(tally.longest, limiter.stats().reserved);
  }, 20);
  setTimeout(() => {
    over = true;
    for (const controller of pending) controller.abort();
  }, lasts);
  await Promise.all(Array.from({ length: waiters }, wait));
  clearInterval(look);
  tally.calls = limiter.stats().calls;
  await limiter.close();
  await redis.quit();
  process.send!({ kind: 'tally', tally }, () => process.disconnect());
}
