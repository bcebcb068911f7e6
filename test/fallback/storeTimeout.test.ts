import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError } from '../../src/errors.ts';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { RedissonRateLimiter } from '../../src/redisson/RedissonRateLimiter.ts';
import {
  type ControlledLedger,
  newestGrants,
  type RefundReply,
  type Reply,
  type ReserveReply,
} from '../../src/stores/store.ts';
import { worksInTurn } from '../../src/workQueue.ts';
import { assertRefuses, noDuration } from '../support/badInput.ts';
import { fateOf, timed, times } from '../support/fakeTime.ts';
import { answerOf, asking, assertNoCalls, granting, limit, setUpTimed } from './fakes.ts';

/** The fake clock adds a millisecond for the turn after the timer. */
const [timeout, over] = [5_000, 5_001];
/** More calls than are sent at a time, or fail in one turn. */
const burst = 3_000;

const calls: Record<string, (ledger: ControlledLedger, reply: Reply<unknown>) => void> = {
  reserve: (ledger, reply) => ledger.reserve(asking(), reply),
  refund: (ledger, reply) =>
    ledger.refund([{ moment: 1, epoch: 7, source: 'redis', cost: [1], count: 1 }], 1, reply),
  decide: (ledger, reply) => ledger.decide([1], reply),
  peek: (ledger, reply) => ledger.peek(reply),
  setRate: (ledger, reply) => ledger.setRate({ limits: [limit], ifAbsent: false, keepState: true }, reply),
  getRate: (ledger, reply) => ledger.getRate(reply),
  pause: (ledger, reply) => ledger.pause(10, reply),
  forget: (ledger, reply) => ledger.forget({ rate: false }, reply),
};

for (const [name, call] of Object.entries(calls))
  timed(`${name}: fails with StoreUnavailableError after storeTimeout`, (clock) => {
    const { ledger, remote } = setUpTimed(timeout);
    const answer = answerOf<unknown>((reply) => call(ledger, reply));
    assert.is(remote.last.operation, name);
    clock.tick(timeout - 1);
    assert.is(answer.at, undefined);
    clock.tick(2);
    assert.is(answer.at, over);
    assert.instance(answer.error, StoreUnavailableError);
    assert.match(answer.error!.message, 'no answer within 5000 ms');
    // The timer knows no caller, and a lost connection fails thousands of calls in one turn.
    assert.is(answer.error!.stack, `StoreUnavailableError: ${answer.error!.message}`);
    assertNoCalls(clock, timeout);
  });

timed('passes on a reply in time, errors included, and leaves no timer', (clock) => {
  const { ledger, remote } = setUpTimed(timeout);
  const [good, bad] = [1, 2].map(() => answerOf<ReserveReply>((reply) => ledger.reserve(asking(), reply)));
  clock.tick(timeout - 1);
  const [first, second] = remote.calls;
  const reply = granting(asking());
  first.reply(null, reply);
  const error = new StoreError('api', new Error('NOPERM'));
  second.reply(error);
  assert.is(good.value, reply);
  assert.is(bad.error, error);
  assertNoCalls(clock, timeout);
});

timed('passes on an error of ioredis, and makes the next call', () => {
  const { ledger, remote } = setUpTimed(timeout);
  const answer = answerOf<number[]>((reply) => ledger.peek(reply));
  const error = new StoreUnavailableError('api', new Error('max retries'));
  remote.last.reply(error);
  assert.is(answer.error, error);
  ledger.peek(() => {});
  assert.is(remote.calls.length, 2);
});

timed('a call waits for a connection that may be opened, and is sent then', (clock) => {
  for (const status of ['wait', 'connecting', 'connect', 'close', 'reconnecting', 'disconnecting']) {
    const { ledger, remote, redis } = setUpTimed(timeout, status);
    const answer = answerOf<number[]>((reply) => ledger.peek(reply));
    assert.is(redis.connects, status === 'wait' ? 1 : 0);
    redis.become('close');
    clock.tick(100);
    assert.is(remote.calls.length, 0, status);
    redis.become('ready');
    assert.is(remote.calls.length, 1, status);
    remote.last.reply(null, [10]);
    assert.equal(answer.value, [10]);
    assert.is(redis.listening, 0);
  }
  assertNoCalls(clock, timeout);
});

timed('a call that has failed is never sent', (clock) => {
  for (const [name, call] of Object.entries(calls)) {
    const { ledger, remote, redis } = setUpTimed(timeout, 'reconnecting');
    const answer = answerOf<unknown>((reply) => call(ledger, reply));
    clock.tick(over);
    assert.instance(answer.error, StoreUnavailableError, name);
    assert.is(redis.listening, 0);
    redis.become('ready');
    assert.equal(
      remote.calls.map(({ operation }) => operation),
      // The refund of a known moment harms nobody, however late it is made.
      name === 'refund' ? ['refund'] : [],
    );
  }
});

timed('a release that has failed is never sent, but the refunds of its call are', (clock) => {
  const { ledger, remote, redis } = setUpTimed(timeout, 'reconnecting');
  const refund = { moment: 5, epoch: 7, source: 'redis', cost: [1], count: 1 } as const;
  const answer = answerOf<RefundReply>((reply) =>
    ledger.refund([{ ...refund, moment: newestGrants }, refund], 1, reply),
  );
  clock.tick(over);
  assert.instance(answer.error, StoreUnavailableError);
  redis.become('ready');
  assert.equal(
    remote.calls.map(({ args }) => args),
    [[[refund], 1]],
  );
});

timed('a call that times out, and has to fail in a later turn, is not sent in between', (clock) => {
  const { ledger, remote, redis } = setUpTimed(timeout, 'reconnecting');
  const answers = Array.from({ length: burst }, () => answerOf((reply) => ledger.peek(reply)));
  clock.tick(over);
  const failed = answers.filter(({ error }) => error).length;
  assert.ok(failed > 0 && failed < burst, `${failed} have failed`);
  redis.become('ready');
  clock.tick(50);
  assert.is(remote.calls.length, 0);
  for (const { error } of answers) assert.instance(error, StoreUnavailableError);
  assertNoCalls(clock, timeout);
});

timed('calls keep their order behind those that wait for the connection', (clock) => {
  const { open, remote, redis } = setUpTimed(timeout, 'reconnecting');
  const [a, b] = [open('a'), open('b')];
  a.reserve(asking(), () => {});
  b.decide([1], () => {});
  a.refund([{ moment: 1, epoch: 7, source: 'redis', cost: [1], count: 1 }], 1, () => {});
  // Before the connection reports it.
  redis.status = 'ready';
  a.peek(() => {});
  redis.emit('ready');
  assert.equal(
    remote.calls.map(({ ledger, operation }) => `${ledger} ${operation}`),
    ['a reserve', 'b decide', 'a refund', 'a peek'],
  );
  clock.tick(2 * over);
});

timed('hands on a call that the client rejects at once, and one in a state that is not known', () => {
  for (const [status, options] of [
    ['end', {}],
    ['reconnecting', { enableOfflineQueue: false }],
    ['subscribed', {}],
  ] as const) {
    const { ledger, remote, redis } = setUpTimed(timeout, status);
    Object.assign(redis, { options });
    const answer = answerOf<number[]>((reply) => ledger.peek(reply));
    const error = new StoreUnavailableError('api', new Error('the client says so'));
    remote.last.reply(error);
    assert.is(answer.error, error);
  }
});

timed(
  'a waiting call fails with the error reply that refuses the connection, unless that passes',
  (clock) => {
    for (const [text, isFinal] of [
      ['WRONGPASS invalid username-password pair', true],
      ['LOADING Redis is loading the dataset in memory', false],
    ] as const) {
      const { ledger, remote, redis } = setUpTimed(timeout, 'connect');
      redis.on('error', () => {});
      const answer = answerOf<number[]>((reply) => ledger.peek(reply));
      const refusal = Object.assign(new Error(text), { name: 'ReplyError' });
      redis.emit('error', refusal);
      redis.become('close');
      assert.is(answer.at !== undefined, isFinal);
      clock.tick(over);
      assert.instance(answer.error, isFinal ? StoreError : StoreUnavailableError);
      assert.is(answer.error?.cause, refusal);
      assert.is(remote.calls.length, 0);
    }
  },
);

timed('a call whose slot moves is sent again only while the connection is ready', (clock) => {
  for (const comesBack of [true, false]) {
    const { ledger, remote, redis } = setUpTimed(timeout);
    const answer = answerOf<number[]>((reply) => ledger.peek(reply));
    remote.last.reply(new StoreUnavailableError('api', new Error('TRYAGAIN Multiple keys request')));
    redis.become('reconnecting');
    clock.tick(comesBack ? 1_000 : over);
    assert.is(remote.calls.length, 1);
    redis.become('ready');
    clock.tick(100);
    assert.is(remote.calls.length, comesBack ? 2 : 1);
    remote.last.reply(null, [10]);
    assert.is(answer.value?.[0], comesBack ? 10 : undefined);
  }
  assertNoCalls(clock, timeout);
});

timed('fails a waiting call when the client gives it up', () => {
  for (const [most, losses] of [
    [0, 1],
    [2, 3],
    [null, Infinity],
    [-1, Infinity],
    [undefined, Infinity],
  ] as const) {
    const { ledger, redis, remote } = setUpTimed(timeout, 'reconnecting');
    Object.assign(redis, { options: { maxRetriesPerRequest: most } });
    redis.on('error', () => {});
    const answer = answerOf<number[]>((reply) => ledger.peek(reply));
    const refused = new Error('connect ECONNREFUSED 127.0.0.1:6379');
    let seen = 0;
    while (seen < 30 && !answer.error) {
      redis.emit('error', refused);
      redis.become('close');
      seen++;
    }
    assert.is(seen, Math.min(30, losses), `${most}`);
    if (losses < Infinity) assert.is(answer.error?.cause, refused);
    redis.become('end');
    assert.instance(answer.error, StoreUnavailableError);
    assert.is(remote.calls.length, 0);
  }
});

timed('reports the state of a connection that is down in the error', (clock) => {
  const { ledger } = setUpTimed(timeout, 'reconnecting');
  const answer = answerOf<number[]>((reply) => ledger.peek(reply));
  clock.tick(over);
  assert.match(answer.error!.message, 'the connection is not ready (reconnecting)');
});

timed('names why a connection could not be opened', (clock) => {
  const { ledger, redis } = setUpTimed(timeout, 'reconnecting');
  redis.on('error', () => {});
  const answer = answerOf<number[]>((reply) => ledger.peek(reply));
  const refused = new Error('connect ECONNREFUSED 127.0.0.1:6379');
  redis.emit('error', refused);
  clock.tick(over);
  assert.is(answer.error?.cause, refused);
  redis.removeAllListeners('error');
  assert.is(redis.listening, 0);
});

timed('times each call separately', (clock) => {
  const { ledger } = setUpTimed(timeout);
  const answers = [0, 1, 2].map(() => {
    const answer = answerOf<number[]>((reply) => ledger.peek(reply));
    clock.tick(1_000);
    return answer;
  });
  clock.tick(timeout);
  assert.equal(
    answers.map(({ at }) => Math.floor(at! / 1_000) * 1_000),
    [5_000, 6_000, 7_000],
  );
});

timed('refunds grants and reservations of a late reserve, with the other refunds of the limiter', (clock) => {
  const { ledger, remote } = setUpTimed(timeout);
  ledger.reserve(asking(3), () => {});
  clock.tick(over);
  const [reserve] = remote.calls;
  reserve.reply(null, {
    ...granting(asking()),
    segments: [
      { count: 1, delay: 0, retryAfter: 0 },
      { count: 1, delay: 99.5, retryAfter: 0 },
      { count: 1, delay: -1, retryAfter: 0 },
    ],
  });
  const refund = { epoch: 7, source: 'redis', cost: [1], count: 1 } as const;
  const late = remote.last;
  assert.equal(late.args, [
    [
      { ...refund, moment: 1001 },
      { ...refund, moment: 1100 },
    ],
    1,
  ]);
  // One call is in flight at a time, and each has a sequence number of its own.
  const own = answerOf<RefundReply>((reply) => ledger.refund([{ ...refund, moment: 5 }], 1, reply));
  assert.is(remote.last, late);
  late.reply(null);
  assert.equal(remote.last.args, [[{ ...refund, moment: 5 }], 2]);
  remote.last.reply(null);
  assert.is(own.error, null);
});

timed('drops a refund that ioredis gives up, and sends the next one', () => {
  const { ledger, remote } = setUpTimed(timeout);
  const refund = { moment: 1, epoch: 7, source: 'redis', cost: [1], count: 1 } as const;
  const answer = answerOf<RefundReply>((reply) => ledger.refund([refund], 1, reply));
  ledger.refund([{ ...refund, moment: 2 }], 2, () => {});
  const error = new StoreUnavailableError('api', new Error('max retries'));
  remote.last.reply(error);
  assert.is(answer.error, error);
  assert.equal(remote.last.args, [[{ ...refund, moment: 2 }], 2]);
});

timed('does not refund a late decision', (clock) => {
  const { ledger, remote } = setUpTimed(timeout);
  ledger.decide([3], () => {});
  clock.tick(over);
  remote.last.reply(null, { granted: true, available: [7], retryAfter: 0, resetAfter: 1000 });
  assert.is(remote.calls.length, 1);
});

timed('leaves one timer after a reply that causes the next call', (clock) => {
  const { ledger } = setUpTimed(timeout);
  let answered = 0;
  const again = () => {
    answered++;
    ledger.peek(again);
  };
  ledger.peek(again);
  clock.tick(over);
  assert.is(answered, 1);
  assert.is(clock.countTimers(), 1);
  clock.tick(over);
  assert.is(answered, 2);
});

timed('Infinity leaves the timeout to ioredis', (clock) => {
  const { ledger } = setUpTimed(Infinity);
  const answer = answerOf<number[]>((reply) => ledger.peek(reply));
  assert.is(clock.countTimers(), 0);
  clock.tick(1e9);
  assert.is(answer.at, undefined);
});

const redis = { defineCommand() {} } as never;
const limiters: Record<string, (storeTimeout: number) => unknown> = {
  RateLimiter: (storeTimeout) => new RateLimiter({ name: 'api', limit, redis, storeTimeout }),
  RateLimiterGroup: (storeTimeout) => new RateLimiterGroup({ name: 'api', limit, redis, storeTimeout }),
  RedissonRateLimiter: (storeTimeout) => new RedissonRateLimiter(redis, 'api', { storeTimeout }),
};

test('the timer does not keep the process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  setUpTimed(timeout).ledger.peek(() => {});
  assert.is(timers(), before);
});

timed('is 5,000 ms by default', async (clock) => {
  const silent: Record<string, unknown> & { defineCommand(name: string): void } = {
    status: 'ready',
    defineCommand(name) {
      silent[name] = () => new Promise(() => {});
    },
  };
  const redis = silent as never;
  const all = [
    new RateLimiter({ name: 'api', limit, redis }),
    new RateLimiterGroup({ name: 'api', limit, redis }).get('key'),
    new RedissonRateLimiter(redis, 'api'),
  ];
  const fates = all.map((limiter) => fateOf(limiter.availablePermits()));
  await clock.tickAsync(timeout - 1);
  assert.equal(times(fates), [undefined, undefined, undefined]);
  await clock.tickAsync(2);
  for (const { reason } of fates) assert.instance(reason, StoreUnavailableError);
  await Promise.all(all.map((limiter) => limiter.close()));
});

for (const [name, make] of Object.entries(limiters))
  test(`${name}: rejects a storeTimeout that is not a duration`, async () => {
    await assertRefuses(make as never, noDuration, 'storeTimeout', 'milliseconds, 0 or more');
    for (const ms of [0, 0.5, Infinity]) assert.not.throws(() => make(ms));
  });

timed('a burst of calls that the store answers one by one is no outage, however long it takes', (clock) => {
  const { ledger, remote } = setUpTimed(timeout);
  const answers = Array.from({ length: burst }, () => answerOf((reply) => ledger.peek(reply)));
  for (let i = 0; i < burst; i++) {
    clock.tick(4);
    remote.calls[i].reply(null, [i]);
  }
  assert.equal(
    answers.map(({ value }) => value),
    answers.map((_, i) => [i]),
  );
  assert.ok(performance.now() > 2 * timeout);
  assertNoCalls(clock, timeout);
});

timed(
  'a burst of calls to a store that does not answer fails after storeTimeout, over several turns',
  (clock) => {
    const { ledger, remote } = setUpTimed(timeout);
    const answers = Array.from({ length: burst }, () => answerOf((reply) => ledger.peek(reply)));
    assert.is(remote.calls.length, 1_024);
    clock.tick(timeout / 2);
    const later = answerOf((reply) => ledger.peek(reply));
    clock.tick(timeout / 2 + 20);
    // A turn of the fake clock takes a millisecond.
    for (const [i, { error, at }] of answers.entries()) {
      assert.instance(error, StoreUnavailableError);
      assert.is(at, over + Math.floor(i / worksInTurn));
    }
    assert.is(later.at, undefined);
    remote.last.reply(null, [5]);
    assert.equal(later.value, [5], 'a call of its own time is sent then');
    assertNoCalls(clock, timeout);
  },
);

timed(
  'a burst that is not sent when the connection is lost waits, for no longer than the timeout',
  (clock) => {
    const { ledger, remote, redis } = setUpTimed(timeout);
    const answers = Array.from({ length: burst }, () => answerOf((reply) => ledger.peek(reply)));
    redis.become('reconnecting');
    clock.tick(timeout / 2);
    // The client gives up the calls that it has sent.
    for (const { reply } of [...remote.calls])
      reply(new StoreUnavailableError('api', new Error('max retries')));
    clock.tick(timeout / 2 + 20);
    assert.is(remote.calls.length, 1_024);
    for (const { error } of answers) assert.instance(error, StoreUnavailableError);
    redis.become('ready');
    assert.is(remote.calls.length, 1_024);
    assertNoCalls(clock, timeout);
  },
);

timed('a burst of calls that waits for a lost connection is sent when it is back', (clock) => {
  const { ledger, remote, redis } = setUpTimed(timeout);
  const answers = Array.from({ length: burst }, () => answerOf((reply) => ledger.peek(reply)));
  redis.become('close');
  clock.tick(10);
  redis.become('ready');
  for (let i = 0; i < burst; i++) remote.calls[i].reply(null, [i]);
  assert.equal(answers[burst - 1].value, [burst - 1]);
  assertNoCalls(clock, timeout);
});

test.run();
