import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { collectGarbage } from '../support/garbage.ts';
import { growth } from '../support/growth.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1_000_000, interval: 1000 });

/** A queue in which every request has a reservation; one in a hundred has another cost. */
function bookedLine(clock: { tick(ms: number): unknown }, count: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  const requests = Array.from({ length: count }, (_, i) =>
    line.ask(recorded, [i % 100 === 99 ? 2 : 1], Infinity, i),
  );
  clock.tick(0);
  const [{ request, reply }] = ledger.reserves;
  // Different moments, so that no reservations are merged.
  const segments = request.runs.flatMap(({ count: asked }) =>
    Array.from({ length: asked }, () => ({ count: 1, delay: 0, retryAfter: 0 })),
  );
  segments.forEach((segment, i) => {
    segment.delay = 1000 + i;
  });
  reply(null, replyTo(request, [], { segments }));
  assert.is(line.stats.reserved, count);
  return { ledger, line, requests };
}

for (const [order, pick] of [
  ['from the first on', (requests: unknown[]) => requests],
  ['from the last on', (requests: unknown[]) => requests.reverse()],
] as const)
  timed(`each cancellation of a reservation, ${order}, costs the same however many there are`, (clock) => {
    const ratio = growth([2_000, 16_000], (count) => {
      const { line, requests } = bookedLine(clock, count);
      const leaving = pick(requests) as typeof requests;
      return () => {
        for (const request of leaving) line.cancel(request);
        assert.is(line.stats.reserved, 0);
      };
    });
    assert.ok(ratio < 40, `eight times as many took ${ratio.toFixed(1)} times as long`);
  });

timed('one signal of many requests, with and without reservations, is linear', async (clock) => {
  const ratio = growth([4_000, 32_000], (count) => {
    const limiter = new RateLimiter({ name: 'api', limit });
    const controller = new AbortController();
    const { signal } = controller;
    const reasons: unknown[] = [];
    for (let i = 0; i < count; i++)
      limiter.acquire(1_000, { signal }).catch((reason) => reasons.push(reason));
    return () => {
      controller.abort();
      assert.equal(limiter.stats().queued + limiter.stats().reserved, 0);
    };
  });
  assert.ok(ratio < 40, `eight times as many took ${ratio.toFixed(1)} times as long`);
  await clock.tickAsync(1);
});

timed('a queue that always has reservations keeps nothing of past grants', (clock) => {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const unexpected = () => assert.unreachable();
  const waiter = { granted: () => undefined, denied: unexpected, failed: unexpected };
  const rounds = (count: number) => {
    for (let i = 0; i < count; i++) {
      line.count(waiter, [1]);
      line.ask(waiter, [2], Infinity, undefined);
      clock.tick(0);
      const { request, reply } = ledger.reserves.pop()!;
      reply(null, replyTo(request, 1 + i / 1e9));
      clock.tick(1);
    }
  };
  rounds(2_000);
  const before = collectGarbage();
  rounds(10_000);
  const grown = collectGarbage() - before;
  assert.ok(grown < 1_000_000, `${grown} bytes more after 20,000 grants`);
});

test.run();
