// Reservations that a process cancels, while other processes wait.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

const rate = { permits: 100, interval: 5000 };
/** By kind, and by when a whole limit is available again after 300 ms. */
const kinds: Record<string, [limit: Limit, due: number]> = {
  'a sliding window': [slidingWindow({ ...rate, resolution: 1 }), 5050],
  'a coarse sliding window': [slidingWindow({ ...rate, resolution: 500 }), 5510],
  'a fixed window': [fixedWindow(rate), 5010],
  'a fixed window on the clock': [fixedWindow({ ...rate, align: 'epoch' }), 5010],
  'a token bucket': [tokenBucket(rate), 5050],
};

/** Three clients of one limit, which the first has used up. It waits for a whole limit again, and the second one behind it. */
async function waitingBehindLarge(limit: Limit, clock: { tickAsync(ms: number): Promise<unknown> }) {
  const store = memoryStore();
  // A server's time is hardly ever a whole number of milliseconds.
  await clock.tickAsync(0.4);
  const [one, behind, late] = ['one', 'behind', 'late'].map((client) => ({
    line: openLine(limit, slowLedger(openLedger(store, limit, client), { there: 1, back: 1 })),
    recorded: recorder<number>(),
  }));
  for (let i = 0; i < 100; i++) one.line.ask(one.recorded, [1], Infinity, i);
  await clock.tickAsync(200);
  assert.is(one.recorded.all('granted').length, 100);
  const large = one.line.ask(one.recorded, [100], Infinity, 100);
  await clock.tickAsync(100);
  for (let i = 0; i < 3; i++) behind.line.ask(behind.recorded, [1], Infinity, i);
  await clock.tickAsync(100);
  assert.is(behind.line.stats.reserved, 1);
  return { behind, late, cancel: () => one.line.cancel(large) };
}

for (const [kind, [limit, due]] of Object.entries(kinds)) {
  timed(
    `a cancelled reservation of ${kind} goes to smaller requests, and what is left is granted in its turn`,
    async (clock) => {
      const { behind, late, cancel } = await waitingBehindLarge(limit, clock);
      cancel();
      await clock.tickAsync(10);
      for (let i = 0; i < 97; i++) late.line.ask(late.recorded, [1], Infinity, i);
      await clock.tickAsync(20_000);
      const [first] = late.recorded.endings;
      assert.ok(first.at <= due, `the first at ${first.at} ms`);
      const last = Math.max(...[...late.recorded.endings, ...behind.recorded.endings].map(({ at }) => at));
      assert.ok(last <= due + 5000, `the last at ${last} ms`);
    },
  );

  timed(
    `reservations of ${kind} come forward when another process has cancelled those before them`,
    async (clock) => {
      const { behind, cancel } = await waitingBehindLarge(limit, clock);
      cancel();
      await clock.tickAsync(20_000);
      const times = behind.recorded.endings.map(({ at }) => at);
      assert.ok(times[0] <= due, `the first at ${times[0]} ms`);
      assert.ok(times[2] <= due + 2000, `the last at ${times[2]} ms`);
    },
  );
}

test.run();
