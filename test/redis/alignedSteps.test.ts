// Steps back of the clock over the edge of a window on it. A comparison of the twins does not detect a fault in both.
import * as assert from 'uvu/assert';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

inEachTwin('steps over the edge of an aligned window', (test, { fleet }) => {
  const limit = { kind: 'fixedWindow', permits: 4, interval: 1000, align: 'epoch' } as const;
  for (const [way, use] of [
    ['a reservation', async (clients) => void (await clients.reserve(800, 1, { count: 5 }))],
    ['a decision', async (clients) => void (await clients.decide(1000, 1))],
  ] as [string, (clients: Awaited<ReturnType<typeof fleet>>) => Promise<void>][])
    test(`a window counts after a step back into it, although it was over before: ${way}`, async () => {
      const clients = await fleet(limit);
      await use(clients);
      assert.equal(await clients.peek(2000), [4]);
      assert.equal(moments(await clients.reserve(1963, 1, { permits: 4 })), [2000]);
    });
});
