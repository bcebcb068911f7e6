import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { type Fate, fateOf, timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { slowLedger } from '../support/slowLedger.ts';

const rate = { permits: 10, interval: 1000 };

function farStore(): Store {
  const inner = memoryStore();
  return {
    open(config) {
      const ledger = inner.open(config);
      return ledgerWith(ledger, { ...slowLedger(ledger, { there: 1, back: 1 }), untilFree: undefined });
    },
  };
}

/** Numbers that are spread like random ones, up to `most`. */
const scattered = (i: number, most: number) => (i * 617) % most;

const limits: [string, Limit | Record<string, Limit>][] = [
  ['sliding window', slidingWindow(rate)],
  ['fixed window', fixedWindow(rate)],
  ['aligned window', fixedWindow({ ...rate, align: 'epoch' })],
  ['token bucket', tokenBucket(rate)],
  ['several limits', { a: slidingWindow(rate), b: tokenBucket(rate) }],
];

const queues: [string, (i: number) => [cost: number, timeout: number]][] = [
  ['one timeout', () => [1, 1500]],
  ['increasing timeouts', (i) => [1, 1500 + i]],
  ['decreasing timeouts', (i) => [1, 1500 - 2 * i]],
  ['random timeouts', (i) => [1, 1000.5 + scattered(i, 990)]],
  ['several costs', (i) => [1 + (i % 3), 1500]],
];

// A wire needs a call for each of the requests that are granted at once.
for (const [where, within, store] of [
  ['in the turn of the call, with the store in this process', 0, memoryStore],
  ['within some round trips, over a wire', 40, farStore],
] as const)
  for (const [kind, limit] of limits)
    for (const [name, ask] of queues)
      timed(`hopeless requests are denied ${where}: ${kind}, ${name}`, async (clock) => {
        clock.tick(200);
        const limiter = new RateLimiter({ name: 'api', limit: limit as Limit, store: store() });
        const asked = performance.now();
        const fates = Array.from({ length: 100 }, (_, i) => {
          const [cost, timeout] = ask(i);
          return fateOf(limiter.acquire(cost, { timeout }));
        });
        await clock.tickAsync(3000);
        const isLate = ({ reason, at }: Fate<unknown>) =>
          reason instanceof AcquireTimeoutError && at! > asked + within;
        // Over a wire, requests may or may not be granted if their deadlines are within some round trips of their moments.
        const mostLate = within > 0 ? 5 : 0;
        assert.ok(fates.filter(isLate).length <= mostLate, `${fates.filter(isLate).length} were denied late`);
        // Those that two windows, or a bucket and its refill, can serve.
        const granted = fates.filter(({ value }) => value).length;
        const least = name === 'several costs' ? 10 : 20;
        assert.ok(granted >= least, `${granted} were granted`);
      });

test.run();
