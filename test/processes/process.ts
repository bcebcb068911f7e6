import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Subscription } from 'rxjs';
import { type Permit, RateLimiter } from '../../src/index.ts';
import { redisStore } from '../../src/stores/redis/redisStore.ts';
import { timedStore } from '../../src/stores/redis/timedStore.ts';
import { RecordedLimiter } from '../history/recordedLimiter.ts';
import { HistoryWriter } from '../history/writer.ts';
import { limitOf } from '../properties/specs.ts';
import { randomOf } from '../support/seed.mjs';
import { day, type Message, type Role, spec } from './protocol.ts';

/*
 * A process that shares a limit with its parent. Its arguments are the port of the server, its role, and the folder of its
 * history.
 */

const [port, role, folder] = process.argv.slice(2) as [string, Role, string];
const redis = new Redis(Number(port));
const store = timedStore(redisStore(redis), redis, 5_000);
const options = { name: 'processes', process: role, limit: spec, store };
const recorded = new RecordedLimiter(options, new HistoryWriter(folder, role));
const { limiter } = recorded;
const daily = new RateLimiter({ name: 'day', limit: limitOf(day), redis });
let closing = false;
let granted = 0;

const tell = (message: Message) => process.send!(message);

function note({ grantedAt, permits }: Permit): void {
  granted++;
  tell({ kind: 'grant', grant: { t: grantedAt, n: permits as number }, receivedAt: Date.now() });
}

async function work(): Promise<void> {
  while (!closing) {
    const permit = await recorded.ask(1).ended;
    if (permit) note(permit);
  }
}

function done(): void {
  const { queued, reserved } = limiter.stats();
  tell({ kind: 'done', at: Date.now(), queued, reserved });
}

async function block(): Promise<void> {
  tell({ kind: 'begins', at: Date.now() });
  // Earlier messages leave first.
  await sleep(20);
  const till = performance.now() + 2_000;
  while (performance.now() < till);
  done();
}

/** Requests that are all unsubscribed, some of them in flight, some reserved, and most of them queued. */
async function storm(): Promise<void> {
  const count = 100_000;
  const random = randomOf('storm');
  tell({ kind: 'begins', at: Date.now() });
  const subscriptions: Subscription[] = [];
  while (subscriptions.length < count) {
    subscriptions.push(recorded.subscribe(note));
    if (subscriptions.length % 500 === 0) await nextTurn();
  }
  for (let i = count - 1; i >= 0; i--) {
    const other = Math.floor((i + 1) * random());
    [subscriptions[i], subscriptions[other]] = [subscriptions[other], subscriptions[i]];
    subscriptions[i].unsubscribe();
    if (i % 500 === 0) await nextTurn();
  }
  // Their reservations are refunded when this has ended.
  closing = true;
  await recorded.close();
  done();
}

/**
 * A second signal arrives while it closes: closing again changes nothing. It ends only after that, as a signal kills a process
 * that has begun to exit.
 */
async function close(): Promise<void> {
  closing = true;
  // Before the parent knows: without a listener, the second signal kills the process.
  const second = once(process, 'SIGTERM');
  tell({ kind: 'begins', at: Date.now() });
  const closed = Promise.all([recorded.close(), daily.close()]);
  await second;
  await Promise.all([closed, limiter.close(), daily.close()]);
  done();
  await redis.quit();
  process.disconnect();
}

if (role === 'close') process.once('SIGTERM', () => void close());
for (let i = 0; i < 16; i++) void work();
await daily.acquire(day.permits);
daily.acquire().catch(() => {});
while (granted === 0 || daily.stats().reserved === 0) await sleep(5);
tell({ kind: 'ready' });
process.once('message', () => {
  if (role === 'block') void block();
  if (role === 'storm') void storm();
});
