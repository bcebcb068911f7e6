// While the limit changes every few milliseconds, no permit waits in a process after its moment.
import fc from 'fast-check';
import sinon from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import type { Store } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { slowLedger } from '../support/slowLedger.ts';

const kinds = [
  (permits: number, interval: number) => slidingWindow({ permits, interval }),
  (permits: number, interval: number) => fixedWindow({ permits, interval }),
  (permits: number, interval: number) => tokenBucket({ permits, interval }),
];

const limits: fc.Arbitrary<Limit> = fc
  .tuple(fc.constantFrom(...kinds), fc.constantFrom(5, 10, 25, 50), fc.constantFrom(100, 1000, 10_000))
  .map(([kind, perSecond, interval]) =>
    kind(Math.max(2, Math.ceil((perSecond * interval) / 1000)), interval),
  );

interface Change {
  limit: Limit;
  client: number;
  /** Milliseconds until the next one. */
  after: number;
}

const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({ limit: limits, client: fc.nat({ max: 1 }), after: fc.integer({ min: 10, max: 50 }) }),
  { minLength: 60, maxLength: 80 },
);

function far(store: Store, trip: number): Store {
  return {
    open(config) {
      const ledger = store.open(config);
      return ledgerWith(ledger, slowLedger(ledger, { there: trip / 2, back: trip / 2 }));
    },
  } as Store;
}

promise(
  'a permit is handed out at its moment, whatever the limit was when its client reserved others',
  300,
  changes,
  async (changes) => {
    const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
    try {
      const store = memoryStore();
      const trips = [1, 5];
      const clients = trips.map(
        (trip) => new RateLimiter({ name: 'api', limit: changes[0].limit, store: far(store, trip) }),
      );
      const late: string[] = [];
      clients.forEach(({ events$ }, client) => {
        events$.subscribe((event) => {
          if (event.type !== 'granted') return;
          const by = Date.now() - (event.grantedAt ?? Infinity);
          if (by > 2 + trips[client]) late.push(`client ${client} by ${by}`);
        });
      });
      const ask = async (client: RateLimiter) => {
        for (;;) await client.acquire();
      };
      for (const client of clients) for (let i = 0; i < 10; i++) ask(client).catch(() => {});
      for (const { limit, client, after } of changes) {
        clients[client].setRate(limit).catch(() => {});
        await clock.tickAsync(after);
      }
      assert.equal(late, []);
      const closed = Promise.all(clients.map((limiter) => limiter.close()));
      await clock.tickAsync(1100);
      await closed;
    } finally {
      sinon.restore();
    }
  },
);

test.run();
