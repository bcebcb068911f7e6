import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { outcome } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { recorder } from '../support/lines.ts';
import { writtenLine } from './scriptedReplies.ts';

/** A queue of 100 requests, assessed just now: for four milliseconds, they are not assessed again. */
function assessedQueue(clock: { tick(ms: number): void }) {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  for (let i = 0; i < 100; i++) line.ask(recorded, [1], 700, 'old');
  clock.tick(0);
  answer([[63, outcome.queued]]);
  assert.is(recorded.endings.length, 0);
  return { line, answer, recorded };
}

/** What is denied of a request that may be late, and of one behind it that is in time only if the first one does not count. */
function deniedBehind(
  clock: { tick(ms: number): void },
  { line, answer }: Pick<ReturnType<typeof writtenLine>, 'line' | 'answer'>,
  recorded: ReturnType<typeof recorder<string>>,
): string[] {
  line.ask(recorded, [600], 1200, 'may be late');
  line.ask(recorded, [500], 900, 'behind it');
  clock.tick(0);
  answer([[1, outcome.queued]]);
  return recorded.all('denied');
}

timed('a request that has joined since is assessed with the next reply, however soon it comes', (clock) => {
  const { line, answer, recorded } = assessedQueue(clock);
  line.ask(recorded, [500], 500, 'new');
  clock.tick(3);
  // Behind the moment of the first request, which is 550 ms later, no other one is granted in time.
  answer([
    [1, 550],
    [62, outcome.queued],
  ]);
  assert.equal(recorded.all('denied'), ['new']);
});

timed(
  'requests that were assessed just now are not assessed with the next reply, but with a later one',
  (clock) => {
    const { line, answer } = writtenLine();
    const recorded = recorder<string>();
    line.ask(recorded, [1], Infinity, 'first');
    for (let i = 0; i < 99; i++) line.ask(recorded, [1], 700, 'old');
    clock.tick(0);
    answer([
      [1, outcome.queued],
      [62, outcome.queued],
    ]);
    line.ask(recorded, [1], 700, 'new');
    clock.tick(3);
    answer([
      [1, 900],
      [62, outcome.queued],
    ]);
    assert.equal(recorded.all('denied'), ['new']);
    clock.tick(1);
    answer([[62, outcome.queued]]);
    assert.is(recorded.all('denied').length, 100);
  },
);

timed('a request counts for those behind it only if it is certain to be granted', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  line.ask(recorded, [600], 600, 'may be late');
  // Not within the window of the other one, if that is granted.
  line.ask(recorded, [500], 900, 'behind it');
  clock.tick(0);
  answer([[1, outcome.queued]]);
  assert.equal(recorded.endings, []);
});

timed('a request without a timeout counts for those behind it, while other clients wait, too', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  line.ask(recorded, [1], 900, 'first');
  line.ask(recorded, [600], Infinity, 'endless');
  line.ask(recorded, [500], 900, 'behind it');
  clock.tick(0);
  answer([[1, outcome.queued]], { contenders: 2 });
  assert.equal(recorded.all('denied'), ['behind it']);
});

timed(
  'a request that is hopeless after a reply is reported before a later one that the reply refuses',
  (clock) => {
    const { line, answer } = writtenLine();
    const recorded = recorder<string>();
    line.ask(recorded, [1], Infinity, 'reserved');
    line.ask(recorded, [1], 500, 'hopeless');
    line.ask(recorded, [1], 400, 'refused');
    clock.tick(0);
    answer([
      [1, 550],
      [1, outcome.queued],
      [1, outcome.refused],
    ]);
    assert.equal(recorded.all('denied'), ['hopeless', 'refused']);
  },
);

timed('requests without timeouts count for a later one before their own reply', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  // The first reply tells that the limit is the one in force.
  line.ask(recorded, [1], Infinity, 'first');
  clock.tick(0);
  answer([[1, 0]]);
  line.ask(recorded, [600], Infinity, 'endless');
  line.ask(recorded, [500], 900, 'behind it');
  clock.tick(0);
  assert.equal(recorded.all('denied'), ['behind it']);
});

timed('all requests that are reserved for the last moment count for those behind them', (clock) => {
  const { line, answer, counter } = writtenLine(fixedWindow({ permits: 1000, interval: 1000 }));
  const recorded = recorder<string>();
  const counted = counter('counted');
  for (let i = 0; i < 3; i++) line.count(counted, [300]);
  clock.tick(0);
  // The window that starts then has no room for more than a hundred.
  answer([[3, 500]]);
  line.ask(recorded, [200], 700, 'behind them');
  assert.equal(recorded.all('denied'), ['behind them']);
});

timed('requests that are reserved for moments of one sliding window count together', (clock) => {
  const { line, answer, counter } = writtenLine();
  const recorded = recorder<string>();
  const counted = counter('counted');
  for (let i = 0; i < 60; i++) line.count(counted, [1]);
  clock.tick(0);
  answer([
    [30, 500],
    [30, 510],
  ]);
  line.ask(recorded, [970], 700, 'behind them');
  assert.equal(recorded.all('denied'), ['behind them']);
});

timed(
  'while windows may be paced, no request is certain to be granted in the window of a reservation',
  (clock) => {
    const { line, answer } = writtenLine(fixedWindow({ permits: 1000, interval: 1000 }));
    const recorded = recorder<string>();
    line.ask(recorded, [1], Infinity, 'first');
    clock.tick(0);
    answer([[1, 500]], { contenders: 2 });
    for (let i = 0; i < 18; i++) line.ask(recorded, [100], 1700, 'in its window or the next');
    // If all of them were, it could only be granted in the one after that.
    line.ask(recorded, [899], 1400, 'behind them');
    assert.equal(recorded.all('denied'), []);
  },
);

timed('for four seconds after two clients have contended, no request is certain to be granted', (clock) => {
  for (const [later, denied] of [
    [3_999, []],
    [4_000, ['behind it']],
  ] as const) {
    const { line, answer } = writtenLine();
    const recorded = recorder<string>();
    line.ask(recorded, [1], Infinity, 'first');
    clock.tick(0);
    answer([[1, 0]], { contenders: 2 });
    clock.tick(later);
    assert.equal(deniedBehind(clock, { line, answer }, recorded), denied);
  }
});

timed(
  'after a change of the limit, a bucket may owe permits: only in a window, a request is certain',
  (clock) => {
    const rate = { permits: 1000, interval: 1000 };
    for (const [limit, timeout, denied] of [
      [tokenBucket(rate), 400, []],
      [slidingWindow(rate), 900, ['behind it']],
    ] as const) {
      const { ledger, line, answer } = writtenLine(fixedWindow(rate));
      const recorded = recorder<string>();
      line.ask(recorded, [1], Infinity, 'first');
      clock.tick(0);
      Object.assign(ledger, { limits: [limit] });
      answer([[1, 0]]);
      line.ask(recorded, [600], 1200, 'may be late');
      line.ask(recorded, [900], timeout, 'behind it');
      clock.tick(0);
      answer([[1, outcome.queued]]);
      assert.equal(recorded.all('denied'), denied);
    }
  },
);

timed('a request that a debt may delay does not count for those behind it', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  clock.tick(10_000);
  line.ask(recorded, [1000], Infinity, 'granted');
  clock.tick(0);
  answer([[1, 0]]);
  const [ending] = recorded.endings;
  assert.is(ending.what, 'granted');
  if (ending.what === 'granted') line.dispatcher.charge({ ...ending.grant, cost: [1000] }, () => undefined);
  assert.equal(deniedBehind(clock, { line, answer }, recorded), []);
});

timed(
  'after two intervals and twice the load of a debt, a request counts for those behind it again',
  (clock) => {
    for (const [later, denied] of [
      [2_399, []],
      [2_400, ['behind it']],
    ] as const) {
      const { line, answer } = writtenLine();
      const recorded = recorder<string>();
      line.ask(recorded, [200], Infinity, 'granted');
      clock.tick(0);
      answer([[1, 0]]);
      const [ending] = recorded.endings;
      if (ending.what !== 'granted') throw new Error('not granted');
      line.dispatcher.charge(ending.grant, () => undefined);
      clock.tick(later);
      // A debt may leave half of each window unused, so this one may have to wait for the next window.
      assert.equal(deniedBehind(clock, { line, answer }, recorded), denied);
    }
  },
);

timed(
  'a request that fits into the fixed window of the last reservation counts for those behind it',
  (clock) => {
    const { line, answer } = writtenLine(fixedWindow({ permits: 1000, interval: 1000 }));
    const recorded = recorder<string>();
    line.ask(recorded, [300], Infinity, 'first');
    clock.tick(0);
    answer([[1, 500]]);
    // Without the moment of the reservation, the window might as well start only after this deadline.
    line.ask(recorded, [600], 700, 'in its window');
    line.ask(recorded, [200], 700, 'behind it');
    assert.equal(recorded.all('denied'), ['behind it']);
  },
);

timed('counted requests of which a part is in the call count as a whole for those behind them', (clock) => {
  const { line, answer, asked, counter } = writtenLine();
  const recorded = recorder<string>();
  const first = line.ask(recorded, [1], 900, 'leaves');
  const counted = counter('counted');
  for (let i = 0; i < 100; i++) line.count(counted, [1]);
  line.ask(recorded, [950], 900, 'behind them');
  line.cancel(first);
  clock.tick(0);
  assert.equal(asked(), [[63, 1]]);
  answer([[63, outcome.queued]]);
  assert.equal(recorded.all('denied'), ['behind them']);
});

timed('only the permits that a reply grants at once count for the requests behind them', (clock) => {
  const { line, answer, asked } = writtenLine();
  const recorded = recorder<string>();
  line.ask(recorded, [62], Infinity, 'granted');
  line.ask(recorded, [1], 700, 'queued');
  line.ask(recorded, [938], 500, 'behind them');
  clock.tick(0);
  assert.equal(asked(), [
    [1, 62],
    [1, 1],
  ]);
  answer([
    [1, 0],
    [1, outcome.queued],
  ]);
  assert.equal(recorded.all('granted'), ['granted']);
  assert.equal(recorded.all('denied'), []);
});

timed('permits that a reply grants at once to several requests count for the one behind them', (clock) => {
  const { line, answer, counter } = writtenLine();
  const recorded = recorder<string>();
  const counted = counter('granted');
  for (let i = 0; i < 60; i++) line.count(counted, [1]);
  line.ask(recorded, [941], 500, 'behind them');
  clock.tick(0);
  answer([[60, 0]]);
  assert.equal(recorded.all('denied'), ['behind them']);
});

timed('permits that a reply grants to a cancelled request do not count', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  const first = line.ask(recorded, [800], Infinity, 'cancelled');
  line.ask(recorded, [900], 500, 'behind it');
  clock.tick(0);
  line.cancel(first);
  answer([[1, 0]]);
  assert.equal(recorded.all('denied'), []);
});

timed('a request whose grant is overtaken by a pause counts once', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  line.ask(recorded, [300], Infinity, 'granted again');
  line.ask(recorded, [500], 500, 'behind it');
  clock.tick(0);
  line.dispatcher.changes.pause(
    (done) => done(null, 50),
    () => {},
  );
  answer([[1, 0]]);
  assert.equal(recorded.endings, []);
});

timed('requests that exceed the limit do not count', (clock) => {
  for (const timeout of [Infinity, 1e9]) {
    const { line, answer } = writtenLine();
    const recorded = recorder<string>();
    for (let i = 0; i < 3; i++) line.ask(recorded, [2000], timeout, 'exceeds the limit');
    line.ask(recorded, [1], 500, 'behind them');
    clock.tick(0);
    answer([[1, outcome.exceedsLimit]]);
    assert.equal(recorded.all('denied'), [], `${timeout}`);
  }
});

timed(
  'requests that exceed a new limit fail with the first reply that tells it, and do not count',
  (clock) => {
    const { ledger, line, answer } = writtenLine();
    const recorded = recorder<string>();
    line.ask(recorded, [100], Infinity, 'first');
    line.ask(recorded, [600], Infinity, 'exceeds the new limit');
    line.ask(recorded, [400], 500, 'behind them');
    clock.tick(0);
    Object.assign(ledger, { limits: [slidingWindow({ permits: 500, interval: 1000 })] });
    answer([[1, 0]]);
    assert.equal(recorded.all('failed'), ['exceeds the new limit']);
    assert.equal(recorded.all('denied'), []);
  },
);

/** A request of 600 permits that is certain to be granted within its five seconds, beside no other client. */
function certainQueue(clock: { tick(ms: number): void }) {
  const written = writtenLine();
  const recorded = recorder<string>();
  written.line.ask(recorded, [600], 5000, 'certain');
  clock.tick(0);
  written.answer([[1, outcome.queued]]);
  clock.tick(100);
  return { ...written, recorded };
}

timed('once another client waits, no request counts as certain any more', (clock) => {
  for (const contenders of [1, 2]) {
    const { line, answer, recorded } = certainQueue(clock);
    // The store is asked again, and its reply tells of the other client.
    clock.tick(2000);
    answer([[1, outcome.queued]], { contenders });
    // Not within the window of the other one, if that is granted.
    line.ask(recorded, [500], 900, 'behind it');
    clock.tick(0);
    answer([[1, outcome.queued]], { contenders });
    assert.equal(recorded.all('denied'), contenders === 1 ? ['behind it'] : []);
  }
});

timed('requests that were certain are denied if they turn out to be late', (clock) => {
  const { line, answer } = writtenLine();
  const recorded = recorder<string>();
  for (const name of ['first', 'second', 'third']) line.ask(recorded, [500], 5000, name);
  clock.tick(0);
  answer([[1, outcome.queued]], { retryAfter: 1000 });
  clock.tick(1000);
  // The window of the first one has room for the second, and the third is a second later.
  answer([[1, 3500]]);
  assert.equal(recorded.all('denied'), ['third']);
});

timed(
  'after a change of the limit, requests are assessed with the next reply, however soon it comes',
  (clock) => {
    const { ledger, line, answer } = writtenLine();
    const recorded = recorder<string>();
    for (let i = 0; i < 100; i++) line.ask(recorded, [1], 700, 'old');
    clock.tick(0);
    answer([[63, outcome.queued]]);
    Object.assign(ledger, { limits: [slidingWindow({ permits: 1, interval: 1000 })] });
    clock.tick(3);
    answer([
      [1, 550],
      [62, outcome.queued],
    ]);
    assert.is(recorded.all('denied').length, 99);
  },
);

test.run();
