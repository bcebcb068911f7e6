import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/errors.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { answerOf, asking, givenUp, granting, setUp } from './fakes.ts';

function reserving({ ledger }: ReturnType<typeof setUp>) {
  return answerOf<ReserveReply>((reply) => ledger.reserve(asking(), reply));
}

timed('a connection that comes up at the start is waited for, and then asked', (clock) => {
  const all = setUp({}, { status: 'connecting' });
  const answer = reserving(all);
  all.redis.become('connect');
  clock.tick(400);
  assert.is(all.remote.calls.length, 0);
  all.redis.become('ready');
  assert.is(all.remote.calls.length, 1);
  all.remote.last.reply(null, granting(asking()));
  assert.is(answer.at, 400);
  assert.is(all.ledger.source, 'redis');
  assert.is(all.redis.listening, 0);
  assert.is(clock.countTimers(), 0);
});

timed(
  'a connection that does not come up in time is no longer waited for, nor asked when it comes',
  (clock) => {
    const all = setUp({}, { status: 'connecting' });
    const answer = reserving(all);
    clock.tick(givenUp);
    assert.is(answer.at, givenUp);
    assert.is(all.ledger.source, 'fallback');
    assert.match(
      (all.changes[0] as { error: Error }).error.message,
      'the connection is not ready (connecting)',
    );
    assert.is(all.redis.listening, 0);
    all.redis.become('ready');
    assert.is(all.remote.calls.length, 0);
  },
);

timed('the wait for the connection counts: a call that leaves late has less time', (clock) => {
  const all = setUp({}, { status: 'connecting' });
  const answer = reserving(all);
  clock.tick(400);
  all.redis.become('ready');
  clock.tick(99);
  assert.is(answer.at, undefined);
  clock.tick(2);
  assert.is(answer.at, givenUp);
});

timed('a connection that is refused at the start opens it at once', () => {
  const all = setUp({}, { status: 'connecting' });
  const answer = reserving(all);
  all.redis.become('close');
  assert.is(answer.at, 0);
  assert.is(all.ledger.source, 'fallback');
});

timed('a connection that failed before anyone asked opens it at once', () => {
  for (const status of ['reconnecting', 'close', 'end', 'disconnecting']) {
    const all = setUp({}, { status });
    assert.is(reserving(all).at, 0, status);
    assert.match(
      (all.changes[0] as { error: Error }).error.message,
      `the connection is not ready (${status})`,
    );
    assert.is(all.redis.listening, 0);
  }
});

timed('a connection that was there and is made again is not waited for', () => {
  const all = setUp();
  reserving(all);
  all.remote.last.reply(null, granting(asking()));
  all.redis.status = 'connecting';
  assert.is(reserving(all).at, 0);
  assert.is(all.ledger.source, 'fallback');
});

timed('a call that leaves before the connection has told that it is ready leaves once', () => {
  const all = setUp({}, { status: 'connecting' });
  all.redis.status = 'ready';
  reserving(all);
  all.redis.emit('ready');
  assert.is(all.remote.calls.length, 1);
});

timed('a lazy connection is told to connect, once for all who wait', () => {
  const all = setUp({}, { status: 'wait' });
  reserving(all);
  reserving(all);
  assert.is(all.redis.connects, 1);
  all.redis.become('ready');
  assert.is(all.remote.calls.length, 2);
});

timed('a thousand who wait for a connection listen once', () => {
  const all = setUp({}, { status: 'connecting' });
  for (let i = 0; i < 1000; i++) reserving(all);
  assert.ok(all.redis.listening <= 4);
  all.redis.become('ready');
  for (const { reply } of [...all.remote.calls]) reply(null, granting(asking()));
  assert.is(all.redis.listening, 0);
});

timed('why a connection failed is told, where somebody listens to its errors', () => {
  const all = setUp({}, { status: 'connecting' });
  const errors: Error[] = [];
  all.redis.on('error', (error) => errors.push(error));
  reserving(all);
  const refused = new Error('connect ECONNREFUSED');
  all.redis.emit('error', refused);
  all.redis.become('close');
  const [change] = all.changes;
  assert.is(change.type === 'fallback' && change.error.cause, refused);
  assert.equal(errors, [refused]);
});

timed('why it failed once is not told of a later failure', () => {
  const all = setUp({}, { status: 'connecting' });
  all.redis.on('error', () => {});
  reserving(all);
  all.redis.emit('error', new Error('connect ECONNREFUSED'));
  all.redis.become('ready');
  all.remote.last.reply(null, granting(asking()));
  reserving(all);
  all.redis.become('close');
  assert.match((all.changes[0] as { error: Error }).error.message, 'the connection was lost');
});

timed('errors that nobody listens to are left to ioredis', () => {
  const all = setUp({}, { status: 'connecting' });
  reserving(all);
  assert.is(all.redis.listenerCount('error'), 0);
});

timed('a reply that came while the event loop was blocked counts', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  // Timers run before what lies in the socket is read.
  clock.tick(500);
  assert.is(answer.at, undefined);
  all.remote.last.reply(null, granting(asking()));
  clock.tick(1);
  assert.is(all.ledger.source, 'redis');
  assert.equal(all.changes, []);
});

timed('a timer that is far too late says nothing of Redis: the call gets its time again', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  // The event loop stands still for a second.
  const { now } = performance;
  let lost = 0;
  performance.now = () => now.call(performance) + lost;
  try {
    setTimeout(() => {
      lost = 1000;
    }, 100);
    clock.tick(givenUp);
    assert.is(answer.at, undefined);
    clock.tick(499);
    assert.is(answer.at, undefined);
    clock.tick(2);
    assert.ok(answer.value);
    assert.is(all.ledger.source, 'fallback');
  } finally {
    performance.now = now;
  }
});

timed('without a bound a call is waited for until the connection is lost', (clock) => {
  const all = setUp({ timeout: Infinity });
  const answer = reserving(all);
  assert.is(clock.countTimers(), 0);
  clock.tick(1e9);
  assert.is(answer.at, undefined);
  all.redis.become('close');
  assert.is(all.ledger.source, 'fallback');
  assert.ok(answer.value);
});

timed('all other calls have the same time, and fail or are answered here', (clock) => {
  const all = setUp();
  const { ledger } = all;
  const decided = answerOf<{ granted: boolean }>((reply) => ledger.decide([1], reply));
  const peeked = answerOf<number[]>((reply) => ledger.peek(reply));
  const rate = answerOf((reply) => ledger.getRate(reply));
  clock.tick(givenUp);
  assert.ok(decided.value?.granted);
  assert.equal(peeked.value, [4]);
  assert.instance(rate.error, StoreUnavailableError);
});

test.run();
