import fc from 'fast-check';
import sinon, { type SinonFakeTimers } from 'sinon';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import type { Waiter } from '../../src/port/line.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { openLine, recorder } from '../support/lines.ts';
import { replyTo, scriptedLedger } from '../support/scriptedLedger.ts';

const vast = slidingWindow({ permits: 1_000_000, interval: 1_000 });

/** Callers whose requests and replies the test sends. */
class Callers {
  readonly ledger;
  readonly line;
  readonly waiter = { ...recorder<number>(), isPassive: true };
  readonly #clock: SinonFakeTimers;
  #count = 0;

  constructor(clock: SinonFakeTimers, limit: Limit = vast) {
    this.#clock = clock;
    this.ledger = scriptedLedger(limit);
    this.line = openLine(limit, this.ledger);
  }

  request(n: number, cost = 1): void {
    for (let i = 0; i < n; i++) this.line.count(this.waiter, [cost], this.#count++);
  }

  /** Ends this turn of the event loop. */
  end(): void {
    this.#clock.tick(0);
  }

  /** Replies to the last call. */
  answer(delay = 0, more?: Partial<ReserveReply>): void {
    const { request, reply } = this.ledger.reserves.at(-1)!;
    reply(null, replyTo(request, delay, more));
  }

  /** `n` callers make requests, and others in the turn of each reply. */
  repeat(n: number, times: number, more?: Partial<ReserveReply>): void {
    for (let i = 0; i < times; i++) {
      this.request(n);
      this.end();
      this.answer(0, more);
    }
  }

  get granted(): number {
    return this.waiter.endings.length;
  }

  /** The number of requests of each call. */
  get asked(): number[] {
    return this.ledger.reserves.map(({ request }) => request.runs.reduce((sum, { count }) => sum + count, 0));
  }

  /** The number of requests of each refund call. */
  get refunded(): number[] {
    return this.ledger.refunds.map(({ refunds }) => refunds.reduce((sum, { count }) => sum + count, 0));
  }
}

/** `n` callers that each request a permit in the turn in which they get one. */
function loops(clock: SinonFakeTimers, n: number) {
  const callers = new Callers(clock);
  const { line } = callers;
  const looping: Waiter = {
    isPassive: true,
    denied() {},
    failed() {},
    granted: () => queueMicrotask(() => line.count(looping, [1])),
  };
  for (let i = 0; i < n; i++) line.count(looping, [1]);
  callers.end();
  return { callers, looping };
}

timed('callers that request again at once get two permits each in a round trip', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  assert.equal(callers.asked, [40, 40, 80]);
  assert.is(callers.granted, 120);
  for (let i = 0; i < 2; i++) {
    // Granted at the end of this turn. The next call waits for the requests that their callers make then.
    callers.request(40);
    callers.end();
    assert.is(callers.granted, 160 + 80 * i);
    assert.is(callers.asked.length, 3 + i);
    callers.repeat(40, 1);
  }
  assert.equal(callers.asked, [40, 40, 80, 80, 80]);
  assert.equal(callers.refunded, []);
  assert.equal(
    callers.waiter.all('granted'),
    Array.from({ length: 280 }, (_, i) => i),
  );
});

timed('the next call waits for the requests of callers that got what was prefetched', (clock) => {
  const { callers, looping } = loops(clock, 40);
  const answer = () => {
    callers.answer();
    callers.end();
  };
  answer();
  answer();
  assert.equal(callers.asked, [40, 40, 80]);
  // Forty requests of the turn of the reply are granted at its end, and ten are left.
  for (let i = 0; i < 10; i++) callers.line.count(looping, [1]);
  answer();
  answer();
  assert.equal(callers.asked, [40, 40, 80, 100, 100]);
  assert.equal(callers.refunded, []);
});

timed('what the requests of the turn do not use is refunded at its end', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  callers.request(15);
  callers.end();
  assert.is(callers.granted, 135);
  assert.equal(callers.refunded, [25]);
  callers.ledger.refunds[0].reply(null, {});
  // It takes four full turns until permits are prefetched again.
  callers.repeat(40, 5);
  assert.equal(callers.asked, [40, 40, 80, 40, 40, 40, 40, 80]);
});

timed('after each such refund, it takes twice as many replies', (clock) => {
  const callers = new Callers(clock);
  const gaps: number[] = [];
  for (let last = 0; gaps.length < 8; ) {
    callers.repeat(40, 1);
    if (callers.asked.at(-1) === 40) continue;
    callers.end();
    callers.ledger.refunds.at(-1)!.reply(null, {});
    gaps.push(callers.asked.length - 1 - last);
    last = callers.asked.length;
  }
  assert.equal(gaps, [2, 4, 8, 16, 32, 64, 64, 64]);
  // Once most of it is used, two replies are enough again.
  for (let i = 0; i < 65; i++) callers.repeat(40, 1);
  callers.request(30);
  callers.end();
  callers.ledger.refunds.at(-1)!.reply(null, {});
  const { length } = callers.asked;
  callers.repeat(40, 3);
  assert.equal(callers.asked.slice(length), [40, 40, 80]);
});

timed(
  'what was prefetched is not handed out after a turn that takes longer than it may be reserved ahead',
  (clock) => {
    const callers = new Callers(clock);
    callers.repeat(40, 3);
    callers.request(40);
    const { performance } = globalThis;
    const now = performance.now();
    sinon.replace(performance, 'now', () => now + 21);
    callers.end();
    assert.is(callers.granted, 120);
    assert.equal(callers.refunded, [40]);
  },
);

timed('all of it is refunded without a request', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  assert.equal(callers.refunded, []);
  callers.end();
  assert.equal(callers.refunded, [40]);
  assert.is(callers.line.idle, false);
  callers.ledger.refunds[0].reply(null, {});
  assert.is(callers.line.idle, true);
});

timed('requests beyond what was prefetched go into the next call', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  callers.request(50);
  callers.end();
  assert.is(callers.granted, 160);
  callers.end();
  assert.equal(callers.asked, [40, 40, 80, 10]);
  assert.equal(callers.refunded, []);
});

timed('requests of another cost do not use what was prefetched', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  callers.request(40, 2);
  callers.end();
  assert.is(callers.granted, 120);
  assert.equal(callers.refunded, [40]);
});

timed('requests of another cost in front of it end it for four replies', (clock) => {
  const callers = new Callers(clock);
  const turn = () => {
    callers.request(40);
    callers.request(40, 2);
    callers.end();
  };
  for (let i = 0; i < 3; i++) {
    turn();
    callers.answer();
  }
  assert.equal(callers.asked, [80, 80, 120]);
  turn();
  assert.equal(callers.refunded, [40]);
  callers.ledger.refunds[0].reply(null, {});
  callers.end();
  assert.equal(callers.asked, [80, 80, 120, 80]);
});

timed('a reply that grants later ends it for two replies', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(32, 2);
  callers.request(32);
  callers.end();
  callers.answer(30);
  assert.equal(callers.refunded, [32]);
  callers.ledger.refunds[0].reply(null, {});
  clock.tick(30);
  callers.repeat(32, 3);
  assert.equal(callers.asked, [32, 32, 64, 32, 32, 64]);
  callers.end();
  assert.is(callers.granted, 192);
});

for (const [title, n, more] of [
  ['less than 32 callers prefetch nothing', 31, {}],
  ['more than 4,096 callers prefetch nothing', 4_097, {}],
  ['a client with contenders prefetches nothing', 40, { contenders: 2 }],
  ['nothing is prefetched from a store that cannot reserve', 40, { retryAfter: 0 }],
] as const)
  timed(title, (clock) => {
    const callers = new Callers(clock);
    callers.repeat(n, 4, more);
    assert.equal(callers.asked, [n, n, n, n]);
  });

timed('no more is prefetched than a call may ask for', (clock) => {
  // A call asks for a sixteenth of the permits at most: 62.5.
  const callers = new Callers(clock, slidingWindow({ permits: 1_000, interval: 1_000 }));
  callers.repeat(40, 3);
  assert.equal(callers.asked, [40, 40, 63]);
});

timed('nothing is prefetched while events are observed', (clock) => {
  const callers = new Callers(clock);
  callers.line.events.events$.subscribe();
  callers.repeat(40, 4);
  assert.equal(callers.asked, [40, 40, 40, 40]);
});

timed('a lookup in the turn of the reply comes after the refund', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  let refunds: number[] | undefined;
  callers.ledger.peek = () => {
    refunds = callers.refunded;
  };
  callers.line.peek(() => {});
  callers.end();
  assert.equal(refunds, [40]);
});

timed('so does a lookup that was made during the call', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 2);
  callers.request(40);
  callers.end();
  assert.equal(callers.asked, [40, 40, 80]);
  let refunds: number[] | undefined;
  callers.ledger.peek = () => {
    refunds = callers.refunded;
  };
  callers.line.peek(() => {});
  callers.answer();
  callers.end();
  assert.equal(refunds, [40]);
});

timed('what was prefetched denies no request that it can serve', (clock) => {
  // As far as the client knows, the bucket was full when the third call arrived: it has permits for all requests.
  const callers = new Callers(clock, tokenBucket({ permits: 1_280, interval: 1_000 }));
  callers.repeat(40, 2);
  callers.request(40);
  callers.end();
  assert.equal(callers.asked, [40, 40, 80]);
  const waiter = recorder<number>();
  for (let i = 0; i < 1_240; i++) callers.line.ask(waiter, [1], 20, i);
  callers.answer();
  callers.end();
  assert.equal(waiter.all('denied'), []);
  assert.is(waiter.all('granted').length, 40);
});

timed('a pause in the turn of the reply applies to what was prefetched', (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  callers.line.dispatcher.changes.pause(
    (done) => done(null, 50),
    () => {},
  );
  callers.request(40);
  clock.tick(49);
  assert.is(callers.granted, 120);
});

timed('closing refunds what was prefetched', async (clock) => {
  const callers = new Callers(clock);
  callers.repeat(40, 3);
  const closing = callers.line.close();
  assert.equal(callers.refunded, [40]);
  callers.ledger.refunds[0].reply(null, {});
  await closing;
  callers.end();
  assert.is(clock.countTimers(), 0);
});

const step = fc.oneof(
  fc.record({ kind: fc.constant('request'), n: fc.constantFrom(1, 20, 40, 50) }),
  fc.record({ kind: fc.constant('end'), n: fc.constant(0) }),
  fc.record({ kind: fc.constant('answer'), n: fc.constantFrom(0, 0, 0, 0, 0, 25) }),
  fc.record({ kind: fc.constant('tick'), n: fc.constantFrom(1, 30) }),
);

test('what was granted is handed out in order, once, or refunded', () => {
  let prefetched = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.constantFrom(0, 40), (steps, repeated) => {
      const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
      try {
        const callers = new Callers(clock);
        const { ledger } = callers;
        callers.repeat(40, 2);
        let requested = 80;
        let answered = 2;
        let refunded = 0;
        const request = (n: number) => {
          callers.request(n);
          requested += n;
        };
        const answer = (delay: number) => {
          for (; refunded < ledger.refunds.length; refunded++) ledger.refunds[refunded].reply(null, {});
          if (answered === ledger.reserves.length) return;
          answered++;
          callers.answer(delay);
          request(repeated);
        };
        for (const { kind, n } of steps)
          if (kind === 'request') request(n);
          else if (kind === 'answer') answer(n);
          else clock.tick(n);
        repeated = 0;
        for (let i = 0; i < 200 && !callers.line.idle; i++) {
          clock.tick(25);
          answer(0);
        }
        const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
        assert.ok(callers.line.idle);
        assert.equal(
          callers.waiter.all('granted'),
          Array.from({ length: requested }, (_, i) => i),
        );
        assert.is(sum(callers.asked) - sum(callers.refunded), requested);
        prefetched += sum(callers.asked) - requested;
      } finally {
        sinon.restore();
      }
    }),
    { numRuns: 500 },
  );
  assert.ok(prefetched > 1_000, `${prefetched} were refunded`);
});

test.run();
