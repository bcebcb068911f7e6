import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import { redisStore } from '../../src/stores/redis/redisStore.ts';
import { timedStore } from '../../src/stores/redis/timedStore.ts';
import { RecordedLimiter, type Request } from '../history/recordedLimiter.ts';
import { HistoryWriter } from '../history/writer.ts';
import { randomOf } from '../support/seed.mjs';
import type { Message, Order } from './protocol.ts';

/*
 * One process of the fleet: it always has waiting requests, cancels and refunds some, and starts on a message of its
 * parent. Its arguments are the port of the server, its index in the fleet, and the folder of the histories.
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

/** The milliseconds for which this process could run, but other processes had the processors: known on Linux only. */
function starvedFor(): number {
  if (process.platform !== 'linux') return 0;
  const [, waited] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
  return Number(waited) / 1e6;
}

async function work(order: Order): Promise<void> {
  const { limit, waiters, lasts, most, cancel, cancelWithin, refund } = order;
  const name = `process-${place}`;
  const options = { name: 'fleet', process: name, limit, store: timedStore(redisStore(redis), redis, 5_000) };
  const limiter = new RecordedLimiter(options, new HistoryWriter(folder, name));
  const pending = new Set<Request>();
  const starvedBefore = starvedFor();
  let longest = 0;
  let over = false;

  /** One waiting request at a time: repeats as soon as it has ended. */
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
  const starved = starvedFor() - starvedBefore;
  process.send!({ kind: 'ended', longest, starved } satisfies Message, () => process.disconnect());
}
