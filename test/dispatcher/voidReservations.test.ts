import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { recorder } from '../support/lines.ts';
import { replyTo } from '../support/scriptedLedger.ts';
import { writtenLine } from './scriptedReplies.ts';

timed(
  'a pause that affects part of a counted request delays that part, and the requests behind it',
  (clock) => {
    const { ledger, line, recorded, counter, answer, asked, counts } = writtenLine();
    const [a, b] = [counter('a'), counter('b')];
    for (let i = 0; i < 5; i++) line.count(a, [1]);
    for (let i = 0; i < 2; i++) line.count(b, [1]);
    clock.tick(0);
    // All requests are one run; three are due before the others.
    answer([
      [3, 100],
      [2, 200],
      [2, 300],
    ]);
    assert.equal(counts(), [0, 7]);
    clock.tick(100);
    assert.equal(recorded, [
      ['a', 100],
      ['a', 100],
      ['a', 100],
    ]);
    line.dispatcher.changes.pause(
      (done) => done(null, 150),
      () => {},
    );
    assert.equal(counts(), [4, 0]);
    clock.tick(0);
    assert.equal(asked(), [[4, 1]]);
    assert.is(
      ledger.refunds.flatMap(({ refunds }) => refunds).reduce((sum, { count }) => sum + count, 0),
      4,
    );
    answer([[4, 150]]);
    clock.tick(150);
    assert.equal(
      recorded.slice(3),
      ['a', 'a', 'b', 'b'].map((name) => [name, 250]),
    );
  },
);

timed('a counted request that keeps part of its reservations in a new epoch keeps its place', (clock) => {
  const { line, recorded, counter, answer, asked, counts } = writtenLine();
  const [a, b, c] = ['a', 'b', 'c'].map(counter);
  for (const [who, count] of [
    [a, 1],
    [b, 20],
    [c, 20],
  ] as const)
    for (let i = 0; i < count; i++) line.count(who, [1]);
  clock.tick(0);
  answer([
    [5, 1500],
    [36, 3500],
  ]);
  assert.equal(counts(), [0, 41]);
  clock.tick(2000);
  // The heartbeat of 1500 asks for earlier moments. Its reply says that another rate was stored: reservations within two seconds
  // hold.
  assert.equal(asked(), [[36, 1]]);
  answer([], { epoch: 2, voidAfter: 2001 });
  assert.equal(counts(), [0, 36]);
  clock.tick(1000);
  assert.equal(asked(), []);
  answer([], { epoch: 2 });
  clock.tick(500);
  assert.equal(
    recorded.map(([name, at]) => `${name} ${at}`),
    ['a 1500', ...Array(4).fill('b 1500'), ...Array(16).fill('b 3500'), ...Array(20).fill('c 3500')],
  );
});

timed(
  'a reservation is void by the time at which the store replied, however long the reply travelled',
  (clock) => {
    const { line, recorded, counter, answer, counts } = writtenLine();
    const a = counter('a');
    for (let i = 0; i < 2; i++) line.count(a, [1]);
    clock.tick(0);
    answer([
      [1, 3000],
      [1, 3030],
    ]);
    clock.tick(1500);
    // The heartbeat is under way. The store replies at once: what is due from 3020 on is void.
    clock.tick(40);
    answer([], { epoch: 2, voidAfter: 1520 });
    assert.equal(counts(), [1, 1]);
    clock.tick(1490);
    assert.equal(recorded, [['a', 3000]]);
  },
);

timed(
  'a reservation that may have become void since the last reply is granted after another one',
  (clock) => {
    const { line, recorded, counter, answer, asked, counts } = writtenLine();
    const a = counter('a');
    for (let i = 0; i < 3; i++) line.count(a, [1]);
    clock.tick(0);
    answer([
      [1, 1900],
      [1, 2100],
      [1, 2200],
    ]);
    // The heartbeat of 1500 has no reply for two seconds.
    clock.tick(3500);
    assert.equal(recorded, [['a', 1900]]);
    assert.equal(counts(), [0, 2]);
    // The store replied when the heartbeat arrived: what is due from 2150 on is void.
    answer([], { epoch: 2, now: Date.now() - 2000, voidAfter: 650 });
    assert.equal(recorded, [
      ['a', 1900],
      ['a', 3500],
    ]);
    clock.tick(0);
    assert.equal(asked(), [[1, 1]]);
  },
);

timed(
  'a reservation that is not confirmed expires, but not before the store has had time to reply',
  (clock) => {
    const { line, answer } = writtenLine();
    const waiter = recorder<number>();
    for (const timeout of [2150, 2600]) line.ask(waiter, [1], timeout, timeout);
    clock.tick(0);
    answer([
      [1, 2120],
      [1, 2120],
    ]);
    clock.tick(2119);
    assert.equal(waiter.endings, []);
    // They are due at 2120, and the store has a tenth of a second to reply.
    clock.tick(5000);
    assert.equal(
      waiter.endings.map(({ what, data, at }) => [what, data, at]),
      [
        ['denied', 2150, 2220],
        ['denied', 2600, 2600],
      ],
    );
  },
);

timed('requests that are due and not confirmed fail with a call that has no reply in time', (clock) => {
  const { ledger, line } = writtenLine();
  const waiter = recorder<number>();
  for (let i = 0; i < 4; i++) line.ask(waiter, [1], Infinity, i);
  for (let i = 4; i < 8; i++) line.count(waiter, [1], i);
  clock.tick(0);
  const [first] = ledger.reserves;
  const rows = [
    [2, 1000],
    [3, 2100],
    [3, 7000],
  ];
  const segments = rows.map(([count, delay]) => ({ count, delay, retryAfter: 0 }));
  first.reply(null, replyTo(first.request, [], { segments }));
  clock.tick(3000);
  const error = new Error('no reply');
  ledger.reserves[1].reply(error);
  assert.equal(
    waiter.endings.map(({ what, data }) => `${data} ${what}`),
    ['0 granted', '1 granted', '2 failed', '3 failed', '4 failed'],
  );
  const { queued, reserved } = line.stats;
  assert.equal([queued, reserved], [0, 3]);
  const refunded = ledger.refunds.flatMap(({ refunds }) => refunds);
  assert.equal(
    refunded.map(({ count, moment }) => [count, moment]),
    [[3, 1_700_000_002_100]],
  );
  // The others keep the later moment: one that may be void is not handed on.
  ledger.reserves[2].reply(error);
  assert.is(line.stats.reserved, 3);
});

timed(
  'requests behind one that is due and not confirmed are sent, and lookups with them, once it has failed',
  (clock) => {
    const { ledger, line, answer, counts } = writtenLine(slidingWindow({ permits: 5, interval: 10_000 }));
    const waiter = recorder<number>();
    const looked: string[] = [];
    ledger.peek = () => looked.push('peek');
    for (let i = 0; i < 4; i++) line.ask(waiter, [1], Infinity, i);
    clock.tick(0);
    answer([[1, 10_000]]);
    const error = new Error('connection is closed');
    const failLast = () => ledger.reserves[ledger.reserves.length - 1].reply(error);
    // The heartbeats fail; the reservation is in the ledger.
    for (let i = 0; i < 6; i++) {
      clock.tick(1500);
      failLast();
    }
    assert.equal(counts(), [3, 1]);
    const { calls } = line.stats;
    // It is due: the client does not wait for the next heartbeat.
    clock.tick(1000);
    assert.is(line.stats.calls, calls + 1);
    line.peek(() => {});
    clock.tick(0);
    assert.equal(looked, []);
    for (let i = 0; i < 4; i++) {
      failLast();
      assert.equal(waiter.all('failed'), [0, 1, 2, 3].slice(0, i + 1));
    }
    assert.equal(looked, ['peek']);
    assert.is(performance.now(), 10_000);
    assert.equal(counts(), [0, 0]);
  },
);

timed('reservations of which the store may know no longer are requested again, and not refunded', (clock) => {
  const { ledger, line, recorded, counter, answer, asked, counts } = writtenLine();
  const a = counter('a');
  for (let i = 0; i < 3; i++) line.count(a, [1]);
  clock.tick(0);
  answer([
    [1, 1900],
    [1, 2100],
    [1, 9000],
  ]);
  clock.tick(4100);
  // What became void before 100 is forgotten, and so is the change that made the second reservation void.
  answer([], { epoch: 3, voidAfter: 8000 });
  assert.equal(counts(), [2, 0]);
  clock.tick(0);
  assert.equal(asked(), [[2, 1]]);
  assert.equal(ledger.refunds, []);
  assert.equal(recorded, [['a', 1900]]);
});

for (const how of ['cancelled', 'closed'])
  for (const [after, refunded] of [
    [3900, true],
    [4100, false],
  ] as const)
    timed(
      `a reservation that is ${how} ${after} ms after the last call with a reply is${refunded ? '' : ' not'} refunded`,
      (clock) => {
        const { ledger, line, answer } = writtenLine();
        const waiter = recorder<number>();
        const requests = [1, 2, 3].map((cost) => line.ask(waiter, [cost], Infinity, cost));
        clock.tick(0);
        answer([
          [1, 1900],
          [1, 7000],
          [1, 8000],
        ]);
        clock.tick(after);
        if (how === 'closed') void line.close();
        else for (const request of requests.slice(1)) line.cancel(request);
        clock.tick(0);
        assert.is(ledger.refunds.length > 0, refunded);
      },
    );

timed('a request that is due and not confirmed fails with the first call that fails', (clock) => {
  const { ledger, line, answer } = writtenLine();
  const waiter = recorder<string>();
  line.ask(waiter, [1], Infinity, 'a');
  clock.tick(0);
  answer([[1, 2100]]);
  clock.tick(1500);
  ledger.reserves[1].reply(new Error('READONLY'));
  clock.tick(1500);
  assert.equal(waiter.endings, []);
  ledger.reserves[2].reply(new Error('READONLY'));
  assert.equal(waiter.all('failed'), ['a']);
});

timed('reservations that are void in a new epoch are requested again, and the rest is kept', (clock) => {
  const { ledger, line, recorded, counter, answer, asked, counts } = writtenLine();
  const [a, b] = ['a', 'b'].map(counter);
  for (let i = 0; i < 13; i++) line.count(a, [1]);
  for (let i = 0; i < 20; i++) line.count(b, [1]);
  clock.tick(0);
  answer([
    [1, 500],
    [2, 2100],
    [30, 2600],
  ]);
  clock.tick(2000);
  assert.equal(asked(), []);
  answer([], { epoch: 2, voidAfter: 900 });
  // The call was sent at 1500. Reservations from 2400 ms on are void: two remain.
  assert.equal(counts(), [30, 2]);
  assert.is(ledger.reserves.length, 3);
  assert.equal(asked(), [[30, 1]]);
  answer([[30, 150]], { epoch: 2 });
  clock.tick(1000);
  assert.equal(
    recorded.map(([name, at]) => `${name} ${at}`),
    ['a 500', 'a 2100', 'a 2100', ...Array(10).fill('a 2150'), ...Array(20).fill('b 2150')],
  );
  // Refunded, though the store may ignore refunds of an older epoch.
  assert.equal(
    ledger.refunds[0].refunds.map(({ count, epoch }) => [count, epoch]),
    [[30, 1]],
  );
});

test.run();
