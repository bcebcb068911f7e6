import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError } from '../../src/errors.ts';
import type { ReserveReply, ReserveRequest } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { answerOf, asking, givenUp, granting, reserving, setUp } from './fakes.ts';

timed('probes Redis with one call after the cooldown, and does not delay the others', (clock) => {
  const all = setUp();
  reserving(all);
  clock.tick(givenUp);
  clock.tick(999);
  assert.is(reserving(all).value?.source, 'fallback');
  assert.is(all.remote.calls.length, 1);
  clock.tick(1);
  const probe = reserving(all);
  assert.is(all.remote.calls.length, 2);
  assert.is(reserving(all).value?.source, 'fallback');
  assert.is(all.remote.calls.length, 2);
  assert.is(probe.at, undefined);
  all.remote.answerProbe();
  all.remote.last.reply(null, granting(asking()));
  assert.is(probe.value?.source, 'redis');
  assert.equal(
    all.changes.map(({ type }) => type),
    ['fallback', 'recovered'],
  );
  const after = reserving(all);
  all.remote.last.reply(null, granting(asking()));
  assert.is(after.value?.source, 'redis');
});

timed('serves a failed probe locally, and probes again a cooldown later', (clock) => {
  const all = setUp();
  reserving(all);
  clock.tick(givenUp + 1000);
  const probe = reserving(all);
  clock.tick(givenUp);
  assert.is(probe.value?.source, 'fallback');
  clock.tick(999);
  reserving(all);
  assert.is(all.remote.calls.length, 2);
  clock.tick(1);
  reserving(all);
  assert.is(all.remote.calls.length, 3);
  assert.is(all.changes.length, 1);
});

timed('sends no probe before the connection is ready', (clock) => {
  const all = setUp();
  reserving(all);
  all.redis.become('close');
  all.redis.status = 'connecting';
  clock.tick(5000);
  assert.is(reserving(all).value?.source, 'fallback');
  assert.is(all.remote.calls.length, 1);
  all.redis.become('ready');
  reserving(all);
  assert.is(all.remote.calls.length, 2);
});

timed('closes the circuit after an error reply to a probe', (clock) => {
  const all = setUp();
  reserving(all);
  clock.tick(givenUp + 1000);
  const probe = reserving(all);
  all.remote.last.reply(new StoreError('api', new Error('WRONGTYPE')));
  all.remote.last.reply(new StoreError('api', new Error('WRONGTYPE')));
  assert.instance(probe.error, StoreError);
  assert.is(all.changes.length, 2);
  reserving(all);
  assert.is(all.remote.all('reserve').length, 3);
});

timed('shares one circuit among all limiters of a store', (clock) => {
  const all = setUp();
  const received: string[] = [];
  const other = all.open('other', ({ type }) => void received.push(type));
  reserving(all);
  clock.tick(givenUp);
  const answer = answerOf<ReserveReply>((reply) => other.reserve(asking(), reply));
  assert.is(answer.at, givenUp);
  assert.is(other.source, 'fallback');
  assert.equal(received, ['fallback']);
  clock.tick(1000);
  reserving(all);
  all.remote.answerProbe();
  all.remote.last.reply(null, granting(asking()));
  other.reserve(asking(), () => {});
  assert.is(all.remote.last.ledger, 'other');
  all.remote.last.reply(null, granting(asking()));
  assert.equal(received, ['fallback', 'recovered']);
});

timed('calls in flight at the opening neither close the circuit nor delay the probe', (clock) => {
  const all = setUp();
  const [slow, lost] = [reserving(all), reserving(all)];
  clock.tick(300);
  const quick = reserving(all);
  all.remote.last.reply(new StoreUnavailableError('api', new Error('READONLY')));
  assert.is(quick.value?.source, 'fallback');
  all.remote.calls[0].reply(null, granting(asking()));
  assert.is(slow.value?.source, 'redis');
  assert.is(reserving(all).value?.source, 'fallback');
  clock.tick(givenUp - 300);
  assert.is(lost.value?.source, 'fallback');
  assert.equal(
    all.changes.map(({ type }) => type),
    ['fallback'],
  );
  clock.tick(799);
  reserving(all);
  assert.is(all.remote.calls.length, 4);
});

timed('discards local reservations with the first reply from Redis only', (clock) => {
  const all = setUp();
  const first = reserving(all);
  all.remote.last.reply(null, granting(asking()));
  assert.is(first.value?.voidAfter, undefined);
  reserving(all);
  clock.tick(givenUp);
  clock.tick(1000);
  const back = reserving(all);
  all.remote.answerProbe();
  // The epoch from before.
  assert.is((all.remote.last.args[0] as ReserveRequest).epoch, 7);
  all.remote.last.reply(null, granting(asking(), { epoch: 9 }));
  assert.is(back.value?.voidAfter, 0);
  const next = reserving(all);
  assert.is((all.remote.last.args[0] as ReserveRequest).epoch, 9);
  all.remote.last.reply(null, granting(asking()));
  assert.is(next.value?.voidAfter, undefined);
});

test.run();
