// Jobs that are granted more than they use, and give the rest back, in virtual time: three processes divide a finite number of
// them.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Limit, slidingWindow } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { cases } from '../support/cases.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine } from '../support/lines.ts';
import { slowLedger } from '../support/slowLedger.ts';

const jobs = 100;
const interval = 6000;
/** Requests and tokens. */
const limits: Limit[] = [60, 10_000].map((permits) => slidingWindow({ permits, interval }));
const [used, takes] = [150, 20];
/** The first 60 jobs go at once, and the others an interval later: see `npm run bench -- settle`. */
const least = interval + 3 * takes;

for (const [there, stagger, estimate] of cases([0.2, 1, 3, 10], [0, 7], [400, 300, 200]))
  timed(
    `three clients, ${there} ms away and ${stagger} ms after each other, finish jobs that use ${used} of ${estimate} tokens in time`,
    async (clock) => {
      const store = memoryStore();
      const start = performance.now();
      let [done, last] = [0, 0];
      const wires = Array.from({ length: 3 }, (_, i) => {
        const wire = slowLedger(openLedger(store, limits, `client ${i}`), { there, back: there });
        const line = openLine(limits, wire);
        const job: Waiter<number> = {
          cancelsAll: true,
          granted: (grant) =>
            setTimeout(() => {
              void line.refundPart(grant, [0, estimate - used]);
              done++;
              last = performance.now() - start;
            }, takes),
          denied: () => assert.unreachable(),
          failed: () => assert.unreachable(),
        };
        const own = Math.ceil((jobs - i) / 3);
        setTimeout(() => {
          for (let n = 0; n < own; n++) line.ask(job, [1, estimate], Infinity, n);
        }, i * stagger);
        return wire;
      });
      await clock.tickAsync(20_000);
      assert.is(done, jobs);
      assert.ok(last <= 1.5 * least, `${last} ms`);
      const calls = wires.reduce((sum, { reserves }) => sum + reserves.length, 0);
      assert.ok(calls <= 1.5 * jobs, `${calls} calls`);
    },
  );

test.run();
