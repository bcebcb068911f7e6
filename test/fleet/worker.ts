import { Redis } from 'ioredis';
import { storeOf } from '../../src/limiter/limiterParts.ts';
import { RecordedLimiter, type Request } from '../history/recordedLimiter.ts';
import { HistoryWriter } from '../history/writer.ts';
import { randomOf } from '../support/seed.mjs';
import type { Message, Order } from './protocol.ts';

/*
 * One process of the fleet: it always has requests that wait, cancels and refunds some, and begins when its parent says so.
 * Its arguments are the port of the server, its place in the fleet, and the folder of the histories.
 */

const [port, place, folder] = process.argv.slice(2);
const random = randomOf(`process ${place}`);
const redis = new Redis(Number(port));
await redis.ping();
process.once('message', (order: Order) => void work(order));
tell({ kind: 'ready' });

function tell(message: Message): void {
  process.send!(message);
}

async function work(order: Order): Promise<void> {
  const { limit, waiters, lasts, most, cancel, cancelWithin, refund } = order;
  const name = `process-${place}`;
  const options = { name: 'fleet', process: name, limit, store: storeOf({ redis }) };
  const limiter = new RecordedLimiter(options, new HistoryWriter(folder, name));
  const pending = new Set<Request>();
  let longest = 0;
  let over = false;

  /** One waiter: asks again as soon as its request has ended. */
  async function wait(): Promise<void> {
    while (!over) {
      const permits = 1 + Math.floor(most * random());
      const whim = random();
      const timeout = whim >= 1 - order.timeout ? order.timeoutWithin * random() : Infinity;
      const request = limiter.ask(permits, timeout);
      const change = whim < cancel ? setTimeout(request.cancel, cancelWithin * random()) : undefined;
      pending.add(request);
      const permit = await request.ended;
      if (permit && random() < refund) setTimeout(() => limiter.refund(permit, permits), 10 * random());
      clearTimeout(change);
      pending.delete(request);
    }
  }

  const look = setInterval(() => {
    longest = Math.max(longest, limiter.limiter.stats().reserved);
  }, 20);
  setTimeout(() => {
    over = true;
    for (const request of pending) request.cancel();
  }, lasts);
  await Promise.all(Array.from({ length: waiters }, wait));
  clearInterval(look);
  await limiter.close();
  await redis.quit();
  process.send!({ kind: 'ended', longest } satisfies Message, () => process.disconnect());
}
