// How many requests have to wait in a process for it to get a fair share beside larger ones.
import assert from 'node:assert/strict';
import { test } from 'uvu';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { contend, type Habits, waits } from './contend.ts';

const rate = { permits: 100, interval: 1000 };
const seconds = 10;
const queued = { ...waits, costs: [[10]], waiting: 20 };

/** Permits a second of a client, and of another one with many requests of 10 permits. */
function besideQueued(limit: Limit, habits: Partial<Habits>): number[] {
  const clients = [{ ...waits, ...habits }, queued];
  const measured = { roundTrip: 2, warmUp: 3000, span: seconds * 1000, seed: 1 };
  return contend({ limits: [limit], clients, ...measured }).kept.map(([permits]) => permits / seconds);
}

for (const limit of [slidingWindow(rate), fixedWindow(rate), tokenBucket(rate)]) {
  test(`one waiting request gets as many grants as larger ones, and fewer permits: ${limit.kind}`, () => {
    const [own, other] = besideQueued(limit, { waiting: 1 });
    assert.ok(own >= 8.5 && own <= 10, `${own} permits a second`);
    assert.ok(other >= 89, `${other} permits a second`);
  });

  for (const [what, habits] of Object.entries<Partial<Habits>>({
    'ten requests wait': { waiting: 10 },
    'one request of as many permits waits': { waiting: 1, costs: [[10]] },
  }))
    test(`the shares are equal if ${what}: ${limit.kind}`, () => {
      const [own, other] = besideQueued(limit, habits);
      assert.ok(own >= 48 && own + other >= 98, `${own} and ${other} permits a second`);
    });
}

test.run();
