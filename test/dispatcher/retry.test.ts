import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, slidingWindow } from '../../src/limits/limit.ts';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { ledgerWith } from '../support/ledgerWith.ts';
import { openLine, recorder } from '../support/lines.ts';
import { later, replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const limit = slidingWindow({ permits: 1000, interval: 1000 });

/** A dispatcher over a store that cannot reserve: it replies at once, with `retryAfter` only. */
function open(waiters: number, retryAfter: number) {
  const ledger = scriptedLedger(limit);
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  for (let i = 0; i < waiters; i++) line.ask(recorded, [1], Infinity, i);
  const deny = () => {
    const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
    reply(null, later(request, retryAfter));
  };
  return { ledger, line, recorded, deny };
}

for (const waiters of [1, 10, 1000])
  timed(
    `a store that cannot reserve is called once per retryAfter, with one timer: ${waiters} wait`,
    (clock) => {
      const { ledger, deny } = open(waiters, 100);
      clock.tick(0);
      for (let calls = 1; calls <= 10; calls++) {
        assert.is(ledger.reserves.length, calls);
        deny();
        assert.is(clock.countTimers(), 1);
        clock.tick(99);
        assert.is(ledger.reserves.length, calls);
        clock.tick(1);
      }
    },
  );

timed('after a refund during a call, the next call follows at once, whatever the reply says', (clock) => {
  const { ledger, line, recorded, deny } = open(3, 100);
  clock.tick(0);
  const segments = [
    { count: 1, delay: 0, retryAfter: 0 },
    { count: 2, delay: outcome.queued, retryAfter: 0 },
  ];
  const { request, reply } = ledger.reserves[0];
  reply(null, replyTo(request, [], { segments, retryAfter: 100 }));
  const [granted] = recorded.endings;
  clock.tick(100);
  assert.is(ledger.reserves.length, 2);
  if (granted.what === 'granted') line.refund(granted.grant);
  clock.tick(0);
  deny();
  clock.tick(0);
  assert.is(ledger.reserves.length, 3);
});

timed(
  'while clients take turns, a refund does not make it call sooner, and a call asks for its part of a window',
  (clock) => {
    const { ledger, line, recorded } = open(9000, 100);
    clock.tick(0);
    const sent = () => {
      const { request } = ledger.reserves[ledger.reserves.length - 1];
      return request.runs.reduce((sum, { count }) => sum + count, 0);
    };
    const answer = (contenders: number) => {
      const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
      const segments = [
        { count: 1, delay: 0, retryAfter: 0 },
        { count: sent() - 1, delay: outcome.queued, retryAfter: 0 },
      ];
      reply(null, replyTo(request, [], { segments, contenders, retryAfter: 100, inTurn: true }));
    };
    answer(4);
    const [granted] = recorded.endings;
    if (granted.what === 'granted') line.refund(granted.grant);
    clock.tick(99);
    assert.is(ledger.reserves.length, 1);
    clock.tick(1);
    assert.is(ledger.reserves.length, 2);
    assert.is(sent(), 250);
    if (granted.what === 'granted') line.refund(granted.grant);
    answer(2);
    clock.tick(99);
    assert.is(ledger.reserves.length, 2);
    clock.tick(1);
    assert.is(sent(), 500);
  },
);

for (const [cost, isWhole, calls] of [
  [[10], true, 2],
  [[10], false, 2],
  [[9], false, 1],
] as const)
  timed(
    `in order, a refund of ${cost} ${isWhole ? 'whole ' : ''}permits makes ${calls - 1} more calls`,
    (clock) => {
      const ledger = scriptedLedger(limit);
      const line = openLine(limit, ledger);
      const recorded = recorder<number>();
      for (let i = 0; i < 2; i++) line.ask(recorded, [10], Infinity, i);
      clock.tick(0);
      const [{ request, reply }] = ledger.reserves;
      const segments = [
        { count: 1, delay: 0, retryAfter: 0 },
        { count: 1, delay: outcome.queued, retryAfter: 0 },
      ];
      reply(null, replyTo(request, [], { segments, contenders: 2, retryAfter: 100 }));
      const [granted] = recorded.endings;
      if (granted.what === 'granted') line.dispatcher.refund({ ...granted.grant, cost }, undefined, isWhole);
      clock.tick(99);
      assert.is(ledger.reserves.length, calls);
    },
  );

for (const [of, calls] of [
  [slidingWindow({ permits: 80, interval: 1000 }), [2, 3, 3, 4, 5, 5]],
  [slidingWindow({ permits: 81, interval: 1000 }), [1, 1, 1, 1, 1, 1]],
  [fixedWindow({ permits: 80, interval: 1000 }), [1, 1, 1, 1, 1, 1]],
] as const)
  timed(
    `in order, refunds of parts of large requests make calls, but not the third: ${of.kind} of ${of.permits}`,
    (clock) => {
      const ledger = scriptedLedger(of);
      const line = openLine(of, ledger);
      const recorded = recorder<number>();
      for (let i = 0; i < 2; i++) line.ask(recorded, [10], Infinity, i);
      clock.tick(0);
      const answer = (delay: number) => {
        const { request, reply } = ledger.reserves[ledger.reserves.length - 1];
        const segments = request.runs.map(({ count }) => ({ count, delay, retryAfter: 0 }));
        reply(null, replyTo(request, [], { segments, contenders: 3, retryAfter: 100 }));
      };
      answer(0);
      const [first] = recorded.endings;
      const made = calls.map(() => {
        const before = ledger.reserves.length;
        if (first.what === 'granted') line.dispatcher.refund({ ...first.grant, cost: [9] }, undefined, false);
        clock.tick(1);
        if (ledger.reserves.length > before) answer(outcome.queued);
        return ledger.reserves.length;
      });
      assert.equal(made, calls);
    },
  );

for (const [timeout, contenders, calls] of [
  [Infinity, 2, 1],
  [50, 2, 2],
  [Infinity, 1, 2],
] as const)
  timed(
    `the next request waits for the turn of its client among ${contenders} for ${timeout} ms: ${calls} calls`,
    (clock) => {
      const ledger = scriptedLedger(limit);
      const line = openLine(limit, ledger);
      const recorded = recorder<number>();
      line.ask(recorded, [1], Infinity, 0);
      clock.tick(0);
      const [{ request, reply }] = ledger.reserves;
      const segments = [{ count: 1, delay: 0, retryAfter: 0 }];
      reply(null, replyTo(request, [], { segments, contenders, retryAfter: 100 }));
      line.ask(recorded, [1], timeout, 1);
      clock.tick(99);
      assert.is(ledger.reserves.length, calls);
      clock.tick(1);
      assert.is(ledger.reserves.length, 2);
    },
  );

timed('while clients take turns, a call asks for a few thousand requests at most', (clock) => {
  const ledger = scriptedLedger(slidingWindow({ permits: 50_000, interval: 50_000 }));
  const line = openLine(limit, ledger);
  const recorded = recorder<number>();
  for (let i = 0; i < 9000; i++) line.ask(recorded, [1], Infinity, i);
  clock.tick(0);
  const [{ request, reply }] = ledger.reserves;
  const [{ count }] = request.runs;
  const segments = [{ count, delay: outcome.queued, retryAfter: 0 }];
  reply(null, replyTo(request, [], { segments, contenders: 2, retryAfter: 100, inTurn: true }));
  clock.tick(100);
  assert.is(ledger.reserves[1].request.runs[0].count, 4096);
});

timed('new requests do not make it call sooner', (clock) => {
  const { ledger, line, recorded, deny } = open(3, 100);
  clock.tick(0);
  deny();
  for (let i = 0; i < 9; i++) {
    clock.tick(10);
    line.ask(recorded, [1], Infinity, 3 + i);
  }
  assert.is(ledger.reserves.length, 1);
  clock.tick(10);
  assert.is(ledger.reserves.length, 2);
});

timed('once the store grants, the queue continues in order', (clock) => {
  const { ledger, recorded, deny } = open(3, 100);
  clock.tick(0);
  deny();
  clock.tick(100);
  const { request, reply } = ledger.reserves[1];
  reply(null, replyTo(request, [0]));
  assert.equal(recorded.all('granted'), [0, 1, 2]);
  assert.is(clock.countTimers(), 0);
});

timed('a request that may not wait is denied behind waiting ones, without a call', (clock) => {
  const { ledger, line, recorded, deny } = open(1, 100);
  clock.tick(0);
  deny();
  line.ask(recorded, [1], 0, 1);
  clock.tick(10);
  assert.equal(recorded.all('denied'), [1]);
  assert.is(ledger.reserves.length, 1);
});

timed('no request waits beyond its timeout for a store that cannot reserve', (clock) => {
  const { line, recorded, deny } = open(1, 100);
  line.ask(recorded, [1], 70, 1);
  clock.tick(0);
  deny();
  clock.tick(70);
  assert.equal(
    recorded.endings.map(({ data, what, at }) => [data, what, at]),
    [[1, 'denied', 70]],
  );
});

timed('an empty queue does not call again', (clock) => {
  const { ledger, line, recorded, deny } = open(0, 100);
  const request = line.ask(recorded, [1], Infinity, 0);
  clock.tick(0);
  deny();
  line.cancel(request);
  clock.tick(1000);
  assert.is(ledger.reserves.length, 1);
  assert.is(clock.countTimers(), 0);
});

timed(
  'a request that a store in this process queues is denied at its deadline, before the next call',
  (clock) => {
    const ledger = ledgerWith(scriptedLedger(limit), {
      sync: true,
      reserve: (request, reply) => reply(null, later(request, 1_000)),
    });
    const line = openLine(limit, ledger);
    const recorded = recorder<string>();
    line.ask(recorded, [1], 500, 'short');
    clock.tick(600);
    assert.equal(
      recorded.endings.map(({ what, at }) => [what, at]),
      [['denied', 500]],
    );
  },
);

test.run();
