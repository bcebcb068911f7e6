import Bottleneck from 'bottleneck';
import { RateLimiter as TokenLimiter } from 'limiter';
import pThrottle from 'p-throttle';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { library } from './support/library.ts';
import { medians, type Way } from './support/sideBySide.ts';
import { printTable } from './support/table.ts';

export const question = 'How many permits a second does one caller get in a process, without a server?';

const { RateLimiter, fixedWindow, slidingWindow, tokenBucket } = library;
const rate = { permits: 1e9, interval: 1_000 };

/** One caller that waits for each reply before the next call. */
function caller(name: string, call: () => Promise<unknown>, calls = 300_000): Way {
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
  const bottleneck = new Bottleneck({
    reservoir: rate.permits,
    reservoirRefreshAmount: rate.permits,
    reservoirRefreshInterval: rate.interval,
  });
  const tokens = new TokenLimiter({ tokensPerInterval: rate.permits, interval: rate.interval });
  const throttled = pThrottle({ limit: rate.permits, interval: rate.interval })(async () => {});
  const ways = [
    caller('rate-limiter-flexible, consume()', () => peer.consume('key')),
    caller('limiter, removeTokens()', () => tokens.removeTokens(1)),
    // Each of its calls waits for a timer.
    caller('bottleneck, schedule()', () => bottleneck.schedule(async () => {}), 200),
    caller('p-throttle, a call', () => throttled(), 10_000),
  ];
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
  await bottleneck.disconnect();
  const base = [...rates.values()][0];
  printTable(
    ['', 'calls/s', 'ratio'],
    Array.from(rates, ([name, one]) => [name, one, one / base]),
  );
}
