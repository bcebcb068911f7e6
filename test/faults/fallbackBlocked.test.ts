import * as assert from 'uvu/assert';
import { type RateLimiter, slidingWindow } from '../../src/index.ts';
import { fallbackSuite } from './fallbackSuite.ts';

const test = fallbackSuite('fallback: a blocked event loop');

/** Lets nothing else run. */
function block(ms: number): void {
  const till = performance.now() + ms;
  while (performance.now() < till);
}

const limit = slidingWindow({ permits: 1000, interval: 100 });

/** Blocks the event loop when a limiter has just been asked, as `when` says; answers who granted. */
async function sourceOf(limiter: RateLimiter, ms: number, when: (work: () => void) => void): Promise<string> {
  assert.is((await limiter.acquire()).source, 'redis');
  const permit = limiter.acquire();
  when(() => block(ms));
  return (await permit).source;
}

test('an event loop that stands still for a second does not blame Redis, whenever it does', async ({
  server,
  open,
}) => {
  await server.start();
  const limiter = open(limit, { timeout: 100, cooldown: 60_000 });
  const moments: ((work: () => void) => void)[] = [
    (work) => work(),
    (work) => queueMicrotask(work),
    (work) => process.nextTick(work),
    (work) => setImmediate(work),
    (work) => setTimeout(work, 1),
    // Behind the line, which asks at the end of the turn, and before what it asks for is written.
    (work) => queueMicrotask(() => process.nextTick(work)),
  ];
  for (const when of moments) assert.is(await sourceOf(limiter, 1000, when), 'redis');
});

test('an answer that lies in the socket when the time is over counts', async ({ server, open }) => {
  await server.start();
  const limiter = open(limit, { timeout: 1_000, cooldown: 60_000 });
  // Not so late that the time would begin anew.
  assert.is(await sourceOf(limiter, 1_200, (work) => setImmediate(work)), 'redis');
});

test.run();
