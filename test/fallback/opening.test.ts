import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError } from '../../src/errors.ts';
import { worksInTurn } from '../../src/workQueue.ts';
import { timed } from '../support/fakeTime.ts';
import { asking, assertNoCalls, givenUp, granting, reserving, setUp } from './fakes.ts';

timed('uses Redis and emits no event while Redis answers in time', (clock) => {
  const all = setUp();
  const answer = reserving(all);
  clock.tick(499);
  all.remote.last.reply(null, granting(asking()));
  assert.is(answer.value?.source, 'redis');
  assert.is(answer.value?.voidAfter, undefined);
  assert.equal(all.changes, []);
  assert.is(all.redis.listening, 0);
  assertNoCalls(clock);
});

timed('opens after a slow call, and grants that call and the next ones locally', (clock) => {
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
  assert.is(all.redis.listening, 0);
  assertNoCalls(clock);
});

timed('answers thousands of calls that fail together over several turns, in their order', (clock) => {
  const { open, redis } = setUp();
  const ledgers = Array.from({ length: 1_000 }, (_, i) => open(`key ${i}`));
  const answered: number[] = [];
  const decide = (ledger: (typeof ledgers)[number], i: number) => ledger.decide([1], () => answered.push(i));
  ledgers.forEach(decide);
  redis.become('close');
  assert.is(answered.length, worksInTurn);
  decide(ledgers[999], 1_000);
  for (let turn = 2; turn < 4; turn++) {
    clock.next();
    assert.is(answered.length, turn * worksInTurn);
  }
  clock.next();
  assert.equal(
    answered,
    Array.from({ length: 1_001 }, (_, i) => i),
  );
});

timed('reports the source of a decision too', () => {
  const { ledger, remote, redis } = setUp();
  const sources: string[] = [];
  ledger.decide([1], () => sources.push(ledger.source));
  remote.last.reply(null, { granted: true, available: [9], retryAfter: 0, resetAfter: 0 });
  redis.status = 'end';
  ledger.decide([1], () => sources.push(ledger.source));
  assert.equal(sources, ['redis', 'fallback']);
});

timed('opens at once after a failed call', () => {
  const all = setUp();
  const answer = reserving(all);
  all.remote.last.reply(new StoreUnavailableError('api', new Error('READONLY')));
  assert.is(answer.value?.source, 'fallback');
});

timed('opens at once after a lost connection, for each call in flight', () => {
  const all = setUp();
  const [a, b] = [reserving(all), reserving(all)];
  assert.is(a.at, undefined);
  all.redis.become('close');
  assert.equal([a.value?.source, b.value?.source], ['fallback', 'fallback']);
  assert.is(all.changes.length, 1);
  assert.is(all.redis.listening, 0);
});

timed('sends no call while the connection is down', () => {
  const all = setUp();
  all.remote.calls.length = 0;
  const first = reserving(all);
  all.remote.last.reply(null, granting(asking()));
  assert.is(first.value?.source, 'redis');
  all.redis.status = 'reconnecting';
  assert.is(reserving(all).value?.source, 'fallback');
  assert.is(all.remote.calls.length, 1);
});

timed('passes on an error reply of Redis, and stays closed', () => {
  const all = setUp();
  const answer = reserving(all);
  const error = new StoreError('api', new Error('WRONGTYPE'));
  all.remote.last.reply(error);
  assert.is(answer.error, error);
  reserving(all);
  assert.is(all.remote.calls.length, 2);
  assert.equal(all.changes, []);
});

timed('subtracts the time spent on Redis from the timeout of a request', (clock) => {
  const all = setUp({ timeout: 500 });
  // Half of the limit is used up here.
  reserving(all, asking(5));
  clock.tick(givenUp);
  clock.tick(1000);
  const tight = reserving(all, asking(6, [1], 1200));
  clock.tick(givenUp);
  // Five are granted at once, the sixth a second later: too late for a timeout of 1200 ms of which half a second has
  // passed.
  assert.equal(
    tight.value?.segments.map(({ count, delay }) => [count, delay]),
    [
      [5, 0],
      [1, -3],
    ],
  );
});

test.run();
