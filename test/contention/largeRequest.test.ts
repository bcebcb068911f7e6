// A request for most of a bucket waits behind a cancelled one of which another client has taken a part, in virtual time.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

/**
 * Permits of 10 in 5 s, the moment at which the first of two requests for all of them is cancelled, and the longest wait of the
 * small request: the clients ask for earlier moments every 1.5 s, and the first one that asks takes what is left.
 */
const costs = [
  [10, 2, 1000, 1550],
  [10, 2, 3000, 6050],
  [9, 2, 1000, 1550],
  [8, 2, 1000, 1550],
  [10, 5, 1000, 3050],
  [10, 1, 1000, 1550],
] as const;
for (const [large, small, cancelledAt, longest] of costs)
  timed(
    `a request for ${large} permits of a bucket waits no longer than one queue makes it beside one for ${small}, if one in front is cancelled after ${cancelledAt} ms`,
    (clock) => {
      const limit = tokenBucket({ permits: 10, interval: 5000 });
      const store = memoryStore();
      const [a, b, c] = ['a', 'b', 'c'].map((client) =>
        openLine(limit, slowLedger(openLedger(store, limit, client), { there: 1, back: 1 })),
      );
      const waiter = recorder<string>();
      a.ask(waiter, [10], Infinity, 'first');
      clock.tick(10);
      const start = performance.now();
      const cancelled = a.ask(waiter, [10], Infinity, 'cancelled')!;
      clock.tick(3);
      c.ask(waiter, [small], Infinity, 'small');
      clock.tick(3);
      b.ask(waiter, [large], Infinity, 'large');
      clock.tick(cancelledAt);
      a.cancel(cancelled);
      clock.tick(15_000);
      const waits = Object.fromEntries(waiter.endings.map(({ data, at }) => [data, at - start]));
      assert.ok(waits.large <= (large + small) * 500 + 50, `the large one waits for ${waits.large} ms`);
      assert.ok(waits.small <= longest, `the small one waits for ${waits.small} ms`);
    },
  );

test.run();
