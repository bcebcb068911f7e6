import { RateLimiterMemory } from 'rate-limiter-flexible';
import { library } from './support/library.ts';
import { medians, type Way } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question = 'How many permits a second does one caller get in a process, without a server?';

const { RateLimiter, fixedWindow, slidingWindow, tokenBucket } = library;
const rate = { permits: 1e9, interval: 1_000 };
const calls = 300_000;

/** One caller that waits for each reply before the next call. */
function caller(name: string, call: () => Promise<unknown>): Way {
  return [
    name,
    async () => {
      const start = performance.now();
      for (let i = 0; i < calls; i++) await call();
      return (calls * 1_000) / (performance.now() - start);
    },
  ];
}

export async function run(): Promise<void> {
  const peer = new RateLimiterMemory({ points: 1e9, duration: 1 });
  const ways = [caller('rate-limiter-flexible, memory', () => peer.consume('key'))];
  for (const limit of [tokenBucket(rate), slidingWindow(rate), fixedWindow(rate)]) {
    const limiter = new RateLimiter({ name: 'one', limit });
    ways.push(
      caller(`acquire, ${limit.kind}`, () => limiter.acquire()),
      caller(`acquire(1, { timeout }), ${limit.kind}`, () => limiter.acquire(1, { timeout: 1_000 })),
      caller(`tryAcquire, ${limit.kind}`, () => limiter.tryAcquire()),
      caller(`decide, ${limit.kind}`, () => limiter.decide()),
    );
  }
  const rates = await medians(ways);
  const base = [...rates.values()][0];
  printTable(
    ['', 'calls/s', 'ratio'],
    Array.from(rates, ([name, one]) => [name, one, one / base]),
  );
}
