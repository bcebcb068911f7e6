// Requests of one deadline are counted in one object, and so are those that are certain. They end as if each was on its own.
import fc from 'fast-check';
import sinon, { type SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Request } from '../../src/dispatcher/request.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { outcome } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { timed } from '../support/fakeTime.ts';
import { openLedger, openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';
import { slowLedger } from '../support/slowLedger.ts';
import { writtenLine } from './scriptedReplies.ts';

const permits = 10;
const interval = 1000;
const limits: fc.Arbitrary<Limit> = fc.oneof(
  fc.constant(tokenBucket({ permits, interval })),
  fc.constant(tokenBucket({ permits, interval, burst: 3 })),
  fc.constant(slidingWindow({ permits, interval })),
  fc.constant(fixedWindow({ permits, interval })),
);

type Step =
  | { kind: 'ask'; client: number; count: number; cost: number; deadline: number; spread: number }
  | { kind: 'advance'; ms: number }
  | { kind: 'refund'; grant: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      // The second client is there for a part of the requests only, so that the first is alone at times.
      client: fc.constantFrom(0, 0, 0, 0, 1),
      count: fc.integer({ min: 1, max: 40 }),
      cost: fc.constantFrom(1, 1, 1, 2, 3),
      // Few deadlines, so that requests of several turns share one: they are whole seconds later, or timeouts.
      deadline: fc.oneof(
        fc.constantFrom(Infinity, 5, 2000),
        fc.integer({ min: 100, max: 6000 }),
        fc.integer({ min: -3, max: -1 }),
        // Most of these are certain, unless the other client waits.
        fc.integer({ min: 3000, max: 20_000 }),
      ),
      spread: fc.constantFrom(1, 1, 3, 50, 5000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.oneof(fc.constantFrom(0, 1), fc.integer({ min: 1, max: 1500 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund' as const), grant: fc.nat() }) },
);

/** How the requests end. */
function run(clock: SinonFakeTimers, limit: Limit, trip: number, steps: Step[], counted: boolean) {
  const store = memoryStore();
  const recorded = recorder<number>();
  const lines = ['one', 'two'].map((client) => {
    const ledger = openLedger(store, limit, client);
    return openLine(limit, trip > 0 ? slowLedger(ledger, { there: trip, back: trip }) : ledger);
  });
  const ends = () => [...recorded.endings].sort((a, b) => a.data - b.data);
  let asked = 0;
  const owners: number[] = [];
  const refunded = new Set<number>();
  for (const one of steps) {
    if (one.kind === 'advance') clock.tick(one.ms);
    else if (one.kind === 'ask') {
      const line = lines[one.client];
      const least = one.deadline > 0 ? one.deadline : -1000 * one.deadline - (clock.now % 1000);
      for (let i = 0; i < one.count; i++) {
        const timeout = least + ((i * 617) % one.spread);
        owners.push(one.client);
        if (counted || timeout === Infinity) line.count(recorded, [one.cost], asked++, timeout);
        else line.ask(recorded, [one.cost], timeout, asked++);
      }
    } else {
      const granted = ends().flatMap((end) =>
        end.what === 'granted' && !refunded.has(end.data) ? [[end.data, end.grant] as const] : [],
      );
      if (granted.length === 0) continue;
      const [data, grant] = granted[one.grant % granted.length];
      refunded.add(data);
      lines[owners[data]].refund(grant);
    }
  }
  clock.tick(600_000);
  const found = ends().map((end) => ({
    ...end,
    grant: undefined,
    moment: end.what === 'granted' ? end.grant.moment : undefined,
  }));
  for (const line of lines) void line.close();
  clock.tick(2000);
  return found;
}

promise(
  'requests of the same or of several deadlines end as if none was counted in another',
  600,
  fc.tuple(limits, fc.constantFrom(0, 3, 40), fc.array(step, { minLength: 2, maxLength: 25 })),
  ([limit, trip, steps]) => {
    const found = [true, false].map((counted) => {
      const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
      try {
        return run(clock, limit, trip, steps, counted);
      } finally {
        sinon.restore();
      }
    });
    for (const { what, data, ...end } of found[0])
      assert.ok(!(Reflect.get(end, 'retryAfter') < 0), `${data} is ${what} with a wait that is past`);
    // The difference of two long lists takes minutes to draw.
    const [one, other] = found.map((endings) => endings.map((end) => JSON.stringify(end)));
    assert.is(one.length, other.length);
    for (const [i, end] of one.entries()) assert.ok(end === other[i], `counted ${end}, not ${other[i]}`);
  },
  {
    examples: [
      // The first reply tells that three of the first requests are certain, and so that one of the others is hopeless.
      [
        [
          slidingWindow({ permits, interval }),
          40,
          [
            { kind: 'ask', client: 0, count: 4, cost: 3, deadline: 2681, spread: 1 },
            { kind: 'ask', client: 0, count: 6, cost: 2, deadline: -1, spread: 1 },
            { kind: 'advance', ms: 0 },
          ],
        ],
      ],
      // Requests are denied after their deadlines, with their first reply.
      [
        [
          tokenBucket({ permits, interval, burst: 3 }),
          3,
          [
            { kind: 'ask', client: 0, count: 2, cost: 1, deadline: Infinity, spread: 1 },
            { kind: 'advance', ms: 6 },
            { kind: 'ask', client: 0, count: 34, cost: 1, deadline: 5, spread: 1 },
            { kind: 'advance', ms: 1 },
          ],
        ],
      ],
      // The other client's refund lets the last request be granted at 2000.
      [
        [
          tokenBucket({ permits, interval }),
          0,
          [
            { kind: 'ask', client: 1, count: 1, cost: 1, deadline: 100, spread: 1 },
            { kind: 'ask', client: 0, count: 4, cost: 3, deadline: -1, spread: 1 },
            { kind: 'refund', grant: 0 },
            { kind: 'advance', ms: 1 },
            { kind: 'ask', client: 0, count: 18, cost: 1, deadline: 2000, spread: 1 },
          ],
        ],
      ],
    ],
  },
);

timed('of requests of one deadline, those granted come before those refused by the same reply', (clock) => {
  const { line, recorded, counter, answer } = writtenLine();
  const waiter = counter('one');
  for (let i = 0; i < 3; i++) line.count(waiter, [1], undefined, 500);
  clock.tick(1);
  answer([
    [2, 0],
    [1, outcome.refused],
  ]);
  assert.equal(
    recorded.map(([who]) => who),
    ['one', 'one', 'one late'],
  );
});

timed(
  'certain requests of several deadlines expire at these if no reply comes, in order at each',
  (clock) => {
    const limit = slidingWindow({ permits, interval });
    const ledger = scriptedLedger(limit);
    const line = openLine(limit, ledger);
    const recorded = recorder<number>();
    const ask = (timeout: number, data: number) => line.count(recorded, [1], data, timeout);
    ask(60_000, -1);
    clock.tick(1);
    const { request, reply } = ledger.reserves[0];
    reply(null, replyTo(request, 500));
    // The last is before the first, with which it is not counted.
    const deadlines = [5000, 6000, 6000, 6000, 6000, 6000, 5500, 7000, 4500];
    for (const [i, deadline] of deadlines.entries()) ask(deadline - performance.now(), i);
    clock.tick(8000);
    assert.equal(
      recorded.endings.map(({ what, data, at }) => [what, data, at]),
      [-1, 8, 0, 6, 1, 2, 3, 4, 5, 7].map((i) => (i < 0 ? ['granted', i, 501] : ['denied', i, deadlines[i]])),
    );
  },
);

timed('before the first reply, requests of several deadlines are not counted in each other', (clock) => {
  const { line, recorded, counter } = writtenLine(slidingWindow({ permits, interval }));
  const waiter = counter('one');
  for (const timeout of [5000, 4000, 300]) line.count(waiter, [1], undefined, timeout);
  clock.tick(6000);
  assert.equal(
    recorded,
    [300, 4000, 5000].map((at) => ['one late', at]),
  );
});

/** A line whose first request waits, while another client has taken all permits of the bucket, and charges more later. */
function beside() {
  const limit = tokenBucket({ permits, interval });
  const store = memoryStore();
  const [other, line] = ['other', 'one'].map((client) => openLine(limit, openLedger(store, limit, client)));
  const [taken, recorded] = [recorder<number>(), recorder<number>()];
  for (let i = 0; i < permits; i++) other.ask(taken, [1], 0, i);
  const [first] = taken.endings;
  assert.ok(first.what === 'granted');
  const charge = (cost: number) => void other.charge(first.grant, [cost]);
  return { line, recorded, charge };
}

timed(
  'requests of several deadlines are not denied by that of the first, if another client charges permits',
  (clock) => {
    const { line, recorded, charge } = beside();
    line.count(recorded, [1], -1, 60_000);
    for (let i = 0; i < 20; i++) line.count(recorded, [1], i, i > 0 ? 60_000 : 5000);
    clock.tick(50);
    charge(40);
    clock.tick(10_000);
    assert.equal(
      recorded.endings.map(({ what, data, at }) => [what, data, at]),
      Array.from({ length: 21 }, (_, i) => ['granted', i - 1, i > 0 ? 4100 + 100 * i : 100]),
    );
  },
);

timed('a hopeless request is not counted among certain ones, if another client has charged permits', () => {
  const { line, recorded, charge } = beside();
  charge(7);
  // The request of index i is granted after 800 + 100 * i ms, unless one in front of it is refused.
  for (let i = 0; i < 40; i++) line.count(recorded, [1], i, i % 2 ? 4000 : 3500);
  assert.equal(
    recorded.endings.map(({ what, data, at }) => [what, data, at]),
    [28, 30, 32, 34, 36, 38, 39].map((i) => ['denied', i, 0]),
  );
});

timed('a request that is not assessed is not counted in one that is', (clock) => {
  const limit = tokenBucket({ permits: 1, interval: 1000, burst: 2 });
  const { line, recorded, counter, answer } = writtenLine(limit);
  const waiter = counter('one');
  line.count(waiter, [1], undefined, 1000);
  clock.tick(1);
  answer([[1, -1]], { retryAfter: 500 });
  line.count(waiter, [1], undefined, 999);
  clock.tick(500);
  // The second is hopeless: the bucket will be empty.
  answer([[1, 399]]);
  clock.tick(1000);
  assert.equal(recorded, [
    ['one late', 501],
    ['one', 900],
  ]);
});

timed('a request that expires at its deadline is not counted in one that may expire later', (clock) => {
  const { line, recorded, counter, answer } = writtenLine();
  const waiter = counter('short');
  line.count(counter('first'), [1]);
  clock.tick(10);
  // Its first reply may come until 110.
  line.count(waiter, [1], undefined, 60);
  clock.tick(10);
  answer([[1, -1]], { retryAfter: 500 });
  clock.tick(10);
  line.count(waiter, [1], undefined, 40);
  clock.tick(200);
  assert.equal(recorded, [
    ['short late', 70],
    ['short late', 110],
  ]);
});

timed('a request that may expire later is not counted in one that expires at its deadline', (clock) => {
  const { line, recorded, counter } = writtenLine();
  const waiter = counter('short');
  line.count(counter('first'), [1]);
  clock.tick(10);
  line.count(waiter, [1], undefined, 100);
  clock.tick(10);
  line.count(waiter, [1], undefined, 90);
  clock.tick(200);
  assert.equal(recorded, [
    ['short late', 110],
    ['short late', 120],
  ]);
});

timed('timeouts of one millisecond count from its end, so that they have one deadline', (clock) => {
  const { line, recorded, counter } = writtenLine();
  const waiter = counter('one');
  clock.tick(0.25);
  for (let i = 0; i < 4; i++) {
    line.count(waiter, [1], undefined, 1000);
    clock.tick(0.25);
  }
  clock.tick(2000);
  assert.equal(recorded, Array(4).fill(['one late', 1001.25]));
});

test('the parts of a request expire with it', () => {
  const request = new Request(writtenLine().counter('one') as Waiter<unknown>, [1], 3, 1000, 1000, undefined);
  request.expires = 1200;
  assert.equal(
    [request.splitFront(1), request.splitBack(1), request].map(({ count, expires }) => [count, expires]),
    Array(3).fill([1, 1200]),
  );
});

test.run();
