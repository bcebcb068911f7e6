import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FairShare } from '../../src/dispatcher/fairShare.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';

/** The load of a permit is one millisecond of the rate. */
const thousand = slidingWindow({ permits: 1000, interval: 1000 });

function open(count: number, limit: Limit = thousand) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  for (let i = 0; i < count; i++) line.ask(recorded, [1], Infinity, i);
  const last = () => ledger.reserves[ledger.reserves.length - 1];
  const sent = () => last().request.runs.reduce((sum, { count }) => sum + count, 0);
  return { ledger, line, recorded, last, sent };
}

timed('the horizon is four round trips, and 20 ms at least', (clock) => {
  const { recorded, line, last } = open(1);
  for (const trip of [1, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]) {
    clock.tick(0);
    clock.tick(trip);
    const { request, reply } = last();
    assert.ok(request.horizon >= 20);
    assert.ok(request.horizon <= 400);
    line.ask(recorded, [1], Infinity, 1);
    reply(null, replyTo(request, [0]));
  }
  assert.ok(last().request.horizon > 380);
  assert.ok(line.stats.roundTrip > 95 && line.stats.roundTrip <= 100);
});

test('the horizon follows the median of the last five round trips', () => {
  const share = new FairShare({ limits: [thousand] });
  for (const trip of [90, 50, 50, 50, 10, 10]) share.measure(trip);
  assert.is(share.horizon, 4 * 50);
  share.measure(10);
  assert.is(share.horizon, 4 * 10);
});

timed('a client requests as many permits as two horizons have at the full rate', (clock) => {
  const ledger = scriptedLedger(slidingWindow({ permits: 10, interval: 100 }));
  const line = openLine(ledger.limits[0], ledger);
  const waiter = recorder<number>();
  for (let i = 0; i < 50; i++) line.count(waiter, [1], i);
  clock.tick(0);
  assert.equal(
    ledger.reserves[0].request.runs.map(({ count }) => count),
    [4],
  );
});

timed('one long round trip does not move the horizon, and no horizon is longer than a second', (clock) => {
  const { recorded, line, last } = open(1);
  const horizons: number[] = [];
  for (const trip of [10, 10, 5_000, 10, 5_000, 5_000]) {
    clock.tick(0);
    clock.tick(trip);
    const { request, reply } = last();
    line.ask(recorded, [1], Infinity, 1);
    reply(null, replyTo(request, [0]));
    clock.tick(0);
    horizons.push(last().request.horizon);
  }
  assert.equal(horizons, [40, 40, 40, 40, 40, 1_000]);
});

timed('a call that had to wait for the connection does not count as a round trip', (clock) => {
  const { line, last } = open(1);
  clock.tick(4_000);
  last().reply(null, replyTo(last().request, [0], { hasWaited: true }));
  assert.is(line.stats.roundTrip, 0);
});

timed('a client without contenders requests a sixteenth of the permits at once', (clock) => {
  const { sent } = open(1000);
  clock.tick(0);
  assert.is(sent(), Math.ceil(1000 / 16));
});

timed(
  'after a call that is granted at once, a client without contenders requests all permits for requests with a timeout',
  (clock) => {
    /** What the next call asks for, so many milliseconds after a reply. */
    const nextAfter = (delay: number, contenders = 1, wait = 0, timeout = 60_000) => {
      const { last, sent, line } = open(10);
      clock.tick(0);
      const { request, reply } = last();
      reply(null, replyTo(request, [delay], { contenders }));
      clock.tick(wait);
      for (let i = 0; i < 2000; i++) line.ask(recorder<number>(), [1], timeout, i);
      clock.tick(0);
      return sent();
    };
    assert.is(nextAfter(0), 1000);
    assert.is(nextAfter(0, 1, 1499), 1000);
    // Others may have come since, or the permits may be gone.
    assert.is(nextAfter(0, 1, 1500), 63);
    assert.is(nextAfter(0, 2), 32);
    assert.is(nextAfter(1), 63);
    // The others lose nothing by waiting for their share.
    assert.is(nextAfter(0, 1, 0, Infinity), 63);
  },
);

timed('requests with a timeout do not overtake requests without one', (clock) => {
  const { last, line } = open(1);
  clock.tick(0);
  last().reply(null, replyTo(last().request, [0]));
  const waiter = recorder<number>();
  for (let i = 0; i < 100; i++) line.count(waiter, [1], i, Infinity);
  line.count(waiter, [1], 100, 60_000);
  clock.tick(0);
  assert.equal(
    last().request.runs.map(({ count }) => count),
    [63],
  );
});

timed('a call that asks for nothing does not tell whether permits are free', (clock) => {
  const { last, sent, line } = open(1);
  clock.tick(0);
  last().reply(null, replyTo(last().request, [2_000]));
  clock.tick(1_500);
  assert.equal(last().request.runs, []);
  last().reply(null, replyTo(last().request, []));
  for (let i = 0; i < 2000; i++) line.ask(recorder<number>(), [1], 60_000, i);
  clock.tick(500);
  assert.is(sent(), 63);
});

timed(
  'a burst of requests with a timeout takes two calls on a free limit, however long a round trip is',
  (clock) => {
    for (const limit of [slidingWindow, fixedWindow, tokenBucket].map((kind) =>
      kind({ permits: 20, interval: 30_000 }),
    )) {
      const ledger = slowLedger(openLedger(memoryStore(), limit, 'one'), { there: 50, back: 50 });
      const line = openLine(limit, ledger);
      const recorded = recorder<number>();
      for (let i = 0; i < 20; i++) line.ask(recorded, [1], 500, i);
      clock.tick(200);
      assert.is(recorded.all('granted').length, 20, limit.kind);
      assert.is(ledger.reserves.length, 2);
      void line.close();
    }
  },
);

timed('a client requests a sixteenth of a burst at once, or of the permits if these are more', (clock) => {
  for (const [permits, burst, least] of [
    [1, 3200, 200],
    [1000, 16, 63],
  ]) {
    const slow = tokenBucket({ permits, interval: 60_000, burst });
    const { sent } = open(1000, slow);
    clock.tick(0);
    assert.is(sent(), least);
  }
});

timed(
  'a client with contenders requests its fair share only, and sends the load of its reservations',
  (clock) => {
    const { ledger, last, sent, line } = open(1000);
    clock.tick(0);
    const { request, reply } = last();
    // Five requests get reservations, and the rest stays queued: the share of one client in ten is used up.
    const segments = [
      { count: 5, delay: 50, retryAfter: 0 },
      { count: sent() - 5, delay: outcome.queued, retryAfter: 0 },
    ];
    reply(null, replyTo(request, [], { contenders: 10, segments }));
    assert.equal([line.stats.contenders, line.stats.reserved, line.stats.queued], [10, 5, 995]);
    assert.is(ledger.reserves.length, 1);
    clock.tick(50);
    assert.is(ledger.reserves.length, 2);
    assert.is(last().request.held, 0);
    // The larger of 2 K, where K is a tenth of the 20 permits of the horizon, and of a tenth of a sixteenth of the window.
    assert.is(sent(), Math.ceil(1000 / (16 * 10)));
  },
);

timed('a client calls again once half of its share is left', (clock) => {
  const { ledger, last, line } = open(1000);
  clock.tick(0);
  const { request, reply } = last();
  const first = Array.from({ length: 20 }, (_, i) => ({ count: 1, delay: 100 + i, retryAfter: 0 }));
  const left = { count: request.runs[0].count - 20, delay: outcome.queued, retryAfter: 0 };
  reply(null, replyTo(request, [], { segments: [...first, left] }));
  assert.is(line.stats.reserved, 20);
  clock.tick(108);
  assert.equal([ledger.reserves.length, line.stats.reserved], [1, 11]);
  clock.tick(1);
  assert.equal([ledger.reserves.length, line.stats.reserved], [2, 10]);
  assert.is(last().request.held, 10);
});

timed('beside large requests, a client keeps as much reserved as the store allows', (clock) => {
  const { ledger, last, sent } = open(1000);
  clock.tick(0);
  const { request, reply } = last();
  const first = Array.from({ length: 60 }, (_, i) => ({ count: 1, delay: 100 + i, retryAfter: 0 }));
  const left = { count: sent() - 60, delay: outcome.queued, retryAfter: 0 };
  // The part of the horizon is 10 ms, as is the load of ten permits.
  reply(null, replyTo(request, [], { contenders: 2, share: 60, segments: [...first, left] }));
  clock.tick(103);
  assert.is(ledger.reserves.length, 1);
  clock.tick(1);
  assert.equal([ledger.reserves.length, last().request.held, sent()], [2, 55, 60]);
  // Without them, the client keeps its part of the horizon.
  last().reply(null, replyTo(last().request, outcome.queued, { contenders: 2 }));
  clock.tick(49);
  assert.is(ledger.reserves.length, 2);
  clock.tick(1);
  assert.equal([ledger.reserves.length, last().request.held, sent()], [3, 5, 32]);
});

timed('beside large requests, a call has 64 requests at most, and a client reserves 4,096', (clock) => {
  const { ledger, last, sent } = open(6000);
  clock.tick(0);
  const { request, reply } = last();
  reply(null, replyTo(request, outcome.queued, { contenders: 20, share: 100_000 }));
  for (let reserved = 0; reserved < 4096; reserved += 64) {
    clock.tick(0);
    assert.is(sent(), 64);
    last().reply(null, replyTo(last().request, 5_000, { contenders: 20, share: 100_000 }));
  }
  const { length } = ledger.reserves;
  clock.tick(0);
  assert.is(ledger.reserves.length, length);
});

timed('a single request larger than the share is sent', (clock) => {
  const { line, recorded, last, sent } = open(0);
  line.ask(recorded, [1000], Infinity, 0);
  clock.tick(0);
  assert.is(sent(), 1);
  const { request, reply } = last();
  reply(null, replyTo(request, [0], { contenders: 1000 }));
  line.ask(recorded, [1000], Infinity, 1);
  clock.tick(0);
  assert.is(sent(), 1);
});

timed('the epoch of the last reply goes with the next call', (clock) => {
  const { last, line, recorded } = open(1);
  clock.tick(0);
  assert.is(last().request.epoch, 0);
  const { request, reply } = last();
  reply(null, replyTo(request, [0], { epoch: 77 }));
  line.ask(recorded, [1], Infinity, 1);
  clock.tick(0);
  assert.is(last().request.epoch, 77);
});

timed('requests of one millisecond make one run, whatever the fractions of their timeouts', (clock) => {
  const ledger = scriptedLedger(thousand);
  const line = openLine(thousand, ledger);
  for (let i = 0; i < 50; i++) line.ask(recorder<number>(), [1], 1000 + i / 100, i);
  clock.tick(0);
  const { runs } = ledger.reserves[0].request;
  assert.equal(
    runs.map(({ count, maxWait }) => [count, maxWait]),
    [
      [1, 1000],
      [49, 1001],
    ],
  );
});

test.run();
