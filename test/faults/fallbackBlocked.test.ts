import * as assert from 'uvu/assert';
import { type RateLimiter, slidingWindow } from '../../src/index.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: a blocked event loop');

/** Blocks the event loop. */
function block(ms: number): void {
  const till = performance.now() + ms;
  while (performance.now() < till);
}

const limit = slidingWindow({ permits: 1000, interval: 100 });

/** Blocks the event loop right after a request, as `when` says; returns the source of the grant. */
async function sourceOf(limiter: RateLimiter, ms: number, when: (work: () => void) => void): Promise<string> {
  assert.is((await limiter.acquire()).source, 'redis');
  const permit = limiter.acquire();
  when(() => block(ms));
  return (await permit).source;
}

test('does not open after a blocked event loop, whenever the loop is blocked', async ({ server, open }) => {
  await server.start();
  const limiter = open(limit, { timeout: 250, cooldown: 60_000 });
  const moments: ((work: () => void) => void)[] = [
    (work) => work(),
    (work) => queueMicrotask(work),
    (work) => process.nextTick(work),
    (work) => setImmediate(work),
    (work) => setTimeout(work, 1),
    // After the queue, which calls at the end of the turn, and before its call is written.
    (work) => queueMicrotask(() => process.nextTick(work)),
  ];
  for (const when of moments) assert.is(await sourceOf(limiter, 500, when), 'redis');
});

const aboutWriting = aboutIoredis(test, 'other clients write a call later');
aboutWriting('accepts a reply that is in the socket when the timeout fires', async ({ server, open }) => {
  await server.start();
  const limiter = open(limit, { timeout: 1_000, cooldown: 60_000 });
  // Not so late that the timeout would start again.
  assert.is(await sourceOf(limiter, 1_200, (work) => setImmediate(work)), 'redis');
});

test.run();
