import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError } from '../../src/errors.ts';
import { timed } from '../support/fakeTime.ts';
import { asking, givenUp, granting, reserving, setUp } from './fakes.ts';

timed('while Redis answers in time it serves, and nothing is told', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  clock.tick(499);
  all.remote.last.reply(null, granting(asking()));
  assert.is(answer.value?.source, 'redis');
  assert.is(answer.value?.voidAfter, undefined);
  assert.equal(all.changes, []);
  assert.is(clock.countTimers(), 0);
  assert.is(all.redis.listening, 0);
});

timed('a call that takes too long opens it: the call itself and those after it are granted here', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  clock.tick(499);
  assert.is(answer.at, undefined);
  clock.tick(2);
  assert.is(answer.at, givenUp);
  assert.is(answer.value?.source, 'fallback');
  assert.is(reserving(all).value?.source, 'fallback');
  assert.is(all.remote.calls.length, 1);
  const [change] = all.changes;
  assert.is(all.changes.length, 1);
  assert.instance(change.type === 'fallback' && change.error, StoreUnavailableError);
  assert.match((change as { error: Error }).error.message, 'no answer within 500 ms');
  assert.is(clock.countTimers(), 0);
  assert.is(all.redis.listening, 0);
});

timed('who decided is told as well', () => {
  const { ledger, remote, redis } = setUp();
  const sources: string[] = [];
  ledger.decide([1], () => sources.push(ledger.source));
  remote.last.reply(null, { granted: true, available: [9], retryAfter: 0, resetAfter: 0 });
  redis.status = 'end';
  ledger.decide([1], () => sources.push(ledger.source));
  assert.equal(sources, ['redis', 'fallback']);
});

timed('a call that fails opens it at once', () => {
  const all = setUp();
  const answer = reserving(all);
  all.remote.last.reply(new StoreUnavailableError('api', new Error('READONLY')));
  assert.is(answer.value?.source, 'fallback');
});

timed('a connection that is lost opens it at once, for each call that is under way', () => {
  const all = setUp();
  const [a, b] = [reserving(all), reserving(all)];
  assert.is(a.at, undefined);
  all.redis.become('close');
  assert.equal([a.value?.source, b.value?.source], ['fallback', 'fallback']);
  assert.is(all.changes.length, 1);
  assert.is(all.redis.listening, 0);
});

timed('what is asked while the connection is away is not sent', () => {
  const all = setUp();
  all.remote.calls.length = 0;
  const first = reserving(all);
  all.remote.last.reply(null, granting(asking()));
  assert.is(first.value?.source, 'redis');
  all.redis.status = 'reconnecting';
  assert.is(reserving(all).value?.source, 'fallback');
  assert.is(all.remote.calls.length, 1);
});

timed('an error that Redis answers with passes as it is, and opens nothing', () => {
  const all = setUp();
  const answer = reserving(all);
  const error = new StoreError('api', new Error('WRONGTYPE'));
  all.remote.last.reply(error);
  assert.is(answer.error, error);
  reserving(all);
  assert.is(all.remote.calls.length, 2);
  assert.equal(all.changes, []);
});

timed('what a request may wait is less by the time that Redis took', (clock) => {
  const all = setUp({ timeout: 500 });
  // Half of the limit is taken here.
  reserving(all, asking(5));
  clock.tick(givenUp);
  clock.tick(1000);
  const tight = reserving(all, asking(6, [1], 1200));
  clock.tick(givenUp);
  // Five go at once, the sixth a second later: too late for 1200 ms that began half a second ago.
  assert.equal(
    tight.value?.segments.map(({ count, delay }) => [count, delay]),
    [
      [5, 0],
      [1, -3],
    ],
  );
});

test.run();
