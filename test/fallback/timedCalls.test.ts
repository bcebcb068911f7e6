import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/errors.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { answerOf, asking, assertNoCalls, givenUp, granting, setUp } from './fakes.ts';

function reserving({ ledger }: ReturnType<typeof setUp>) {
  return answerOf<ReserveReply>((reply) => ledger.reserve(asking(), reply));
}

timed('waits for a connection that is being established, then sends the call', (clock) => {
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
  assertNoCalls(clock);
});

timed('gives up on a connection that is not ready in time, and sends nothing later', (clock) => {
  const all = setUp({}, { status: 'connecting' });
  const answer = reserving(all);
  clock.tick(givenUp);
  assert.is(answer.at, givenUp);
  assert.is(all.ledger.source, 'fallback');
  const { error } = all.changes[0] as { error: Error };
  assert.match(error.message, 'the connection is not ready (connecting)');
  assert.is(error.stack, `StoreUnavailableError: ${error.message}`);
  assert.is(all.redis.listening, 0);
  all.redis.become('ready');
  assert.is(all.remote.calls.length, 0);
});

timed('counts the wait for the connection against the time of the call', (clock) => {
  const all = setUp({}, { status: 'connecting' });
  const answer = reserving(all);
  clock.tick(400);
  all.redis.become('ready');
  clock.tick(99);
  assert.is(answer.at, undefined);
  clock.tick(2);
  assert.is(answer.at, givenUp);
});

timed('opens at once after a connection refused at the start', () => {
  const all = setUp({}, { status: 'connecting' });
  const answer = reserving(all);
  all.redis.become('close');
  assert.is(answer.at, 0);
  assert.is(all.ledger.source, 'fallback');
});

timed('opens at once after a connection that failed before the first request', () => {
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

timed('does not wait for a reconnect', () => {
  const all = setUp();
  reserving(all);
  all.remote.last.reply(null, granting(asking()));
  all.redis.status = 'connecting';
  assert.is(reserving(all).at, 0);
  assert.is(all.ledger.source, 'fallback');
});

timed('sends a call once if it leaves before the connection reports that it is ready', () => {
  const all = setUp({}, { status: 'connecting' });
  all.redis.status = 'ready';
  reserving(all);
  all.redis.emit('ready');
  assert.is(all.remote.calls.length, 1);
});

timed('connects a lazy connection once for all waiting calls', () => {
  const all = setUp({}, { status: 'wait' });
  reserving(all);
  reserving(all);
  assert.is(all.redis.connects, 1);
  all.redis.become('ready');
  assert.is(all.remote.calls.length, 2);
});

timed('adds one listener for a thousand waiting calls', () => {
  const all = setUp({}, { status: 'connecting' });
  for (let i = 0; i < 1000; i++) reserving(all);
  assert.ok(all.redis.listening <= 4);
  all.redis.become('ready');
  for (const { reply } of [...all.remote.calls]) reply(null, granting(asking()));
  assert.is(all.redis.listening, 0);
});

timed('reports why a connection failed, if an error listener is registered', () => {
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

timed('does not report an earlier reason for a later failure', () => {
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

timed('leaves errors without a listener to ioredis', () => {
  const all = setUp({}, { status: 'connecting' });
  reserving(all);
  assert.is(all.redis.listenerCount('error'), 0);
});

timed('accepts a reply that arrived while the event loop was blocked', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  // Timers run before the socket is read.
  clock.tick(500);
  assert.is(answer.at, undefined);
  all.remote.last.reply(null, granting(asking()));
  clock.tick(1);
  assert.is(all.ledger.source, 'redis');
  assert.equal(all.changes, []);
});

timed('restarts the time of a call after a timer that fires far too late', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  // Blocks the event loop for a second.
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

timed('waits for a call without a timeout until the connection is lost', (clock) => {
  const all = setUp({ timeout: Infinity });
  const answer = reserving(all);
  assert.is(clock.countTimers(), 0);
  clock.tick(1e9);
  assert.is(answer.at, undefined);
  all.redis.become('close');
  assert.is(all.ledger.source, 'fallback');
  assert.ok(answer.value);
});

timed('applies the same timeout to all other calls, which fail or are answered locally', (clock) => {
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
