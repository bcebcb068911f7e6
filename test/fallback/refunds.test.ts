import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError } from '../../src/errors.ts';
import {
  type DecideReply,
  newestGrants,
  type PermitSource,
  type Refund,
  type RefundReply,
  type ReserveReply,
} from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { answerOf, asking, givenUp, setUp } from './fakes.ts';

const lost = new StoreUnavailableError('api', new Error('the connection is closed'));

/** A refund to Redis of one permit, told apart by its moment. */
function toRedis(moment: number, source: PermitSource = 'redis'): Refund {
  return { moment, epoch: 7, source, cost: [1], count: 1 };
}

/** Refunds, and answers how it ended. */
function refunding({ ledger }: ReturnType<typeof setUp>, ...refunds: Refund[]) {
  return answerOf<RefundReply>((reply) => ledger.refund(refunds, 1, reply));
}

/** Lets Redis go away, by a call that it does not answer. */
function goAway({ ledger }: ReturnType<typeof setUp>, clock: { tick(ms: number): void }) {
  const answer = answerOf<ReserveReply>((reply) => ledger.reserve(asking(5), reply));
  clock.tick(givenUp);
  return answer.value!;
}

/** Lets Redis come back, by a call that it answers. */
function comeBack({ ledger, remote }: ReturnType<typeof setUp>, clock: { tick(ms: number): void }) {
  clock.tick(1000);
  ledger.peek(() => {});
  remote.answerProbe();
  remote.last.reply(null, [10]);
}

timed('while Redis serves, what it granted goes back to it', () => {
  const all = setUp();
  const answer = refunding(all, toRedis(1), toRedis(2));
  assert.is(answer.at, undefined);
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(1), toRedis(2)]);
  all.remote.lastOf('refund').reply(null);
  assert.is(answer.error, null);
});

timed('an error that Redis answers a refund with is handed on, and it is not made again', () => {
  const all = setUp();
  const answer = refunding(all, toRedis(1));
  const error = new StoreError('api', new Error('NOPERM'));
  all.remote.lastOf('refund').reply(error);
  assert.is(answer.error, error);
  assert.equal(all.changes, []);
  refunding(all, toRedis(2));
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(2)]);
});

timed('each goes back to who granted it', (clock) => {
  const all = setUp();
  const { now, epoch } = goAway(all, clock);
  const decided = () => answerOf<DecideReply>((reply) => all.ledger.decide([1], reply)).value;
  assert.not(decided()?.granted);
  const here = { moment: now, epoch, source: 'fallback', cost: [1], count: 2 } as const;
  assert.ok(refunding(all, toRedis(1), here).at);
  assert.is(decided()?.available[0], 1);
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(1)]);
});

timed('what was granted here goes back here, though Redis serves by then', (clock) => {
  const all = setUp();
  const { now, epoch } = goAway(all, clock);
  comeBack(all, clock);
  const calls = all.remote.calls.length;
  assert.ok(refunding(all, { moment: now, epoch, source: 'fallback', cost: [1], count: 5 }).at);
  assert.is(all.remote.calls.length, calls);
});

timed('what is released goes to whoever serves', (clock) => {
  const all = setUp();
  refunding(all, toRedis(newestGrants, 'fallback'));
  assert.is(all.remote.last.operation, 'refund');
  all.remote.lastOf('refund').reply(null);
  goAway(all, clock);
  const calls = all.remote.calls.length;
  refunding(all, { ...toRedis(newestGrants), count: 2 });
  assert.is(all.remote.calls.length, calls);
  assert.is(answerOf<number[]>((reply) => all.ledger.peek(reply)).value?.[0], 2);
});

timed('a refund that Redis does not answer opens the fallback, and keeps nobody', (clock) => {
  const all = setUp();
  const answer = refunding(all, toRedis(1));
  clock.tick(givenUp);
  assert.is(answer.at, givenUp);
  assert.is(all.changes.length, 1);
});

timed('one call is under way at a time, so that the order is that of the sequences', () => {
  const all = setUp();
  refunding(all, toRedis(1));
  refunding(all, toRedis(2));
  assert.is(all.remote.calls.length, 1);
  all.remote.last.reply(null);
  assert.equal(all.remote.last.args, [[toRedis(2)], 2]);
});

timed('a refund that is made by the reply to another one is sent, once', () => {
  const all = setUp();
  const { ledger, remote } = all;
  ledger.refund([toRedis(1)], 1, () => ledger.refund([toRedis(2)], 2, () => {}));
  remote.last.reply(null);
  remote.last.reply(null);
  assert.equal(
    remote.all('refund').map(({ args }) => args),
    [1, 2].map((n) => [[toRedis(n)], n]),
  );
});

timed('what failed is made again when Redis is back, though nothing else is given back', (clock) => {
  const all = setUp();
  refunding(all, toRedis(1));
  all.remote.last.reply(lost);
  comeBack(all, clock);
  assert.is(all.remote.all('refund').length, 2);
});

timed('what Redis has not answered it is told again when it is back, as the same call', (clock) => {
  const all = setUp();
  refunding(all, toRedis(1));
  all.redis.status = 'reconnecting';
  all.remote.lastOf('refund').reply(lost);
  refunding(all, toRedis(2));
  all.redis.status = 'ready';
  comeBack(all, clock);
  const [first, again] = all.remote.all('refund').map(({ args }) => args);
  assert.equal(again, first);
  all.remote.lastOf('refund').reply(null);
  assert.equal(all.remote.lastOf('refund').args, [[toRedis(2)], 2]);
  all.remote.lastOf('refund').reply(null);
  goAway(all, clock);
  comeBack(all, clock);
  assert.is(all.remote.all('refund').length, 3);
});

timed('while the connection is away nothing is sent, and it is all sent when Redis is back', (clock) => {
  const all = setUp();
  goAway(all, clock);
  all.redis.status = 'reconnecting';
  for (const moment of [1, 2, 3]) assert.ok(refunding(all, toRedis(moment)).at);
  assert.is(all.remote.all('refund').length, 0);
  all.redis.status = 'ready';
  comeBack(all, clock);
  for (let i = 0; i < 3; i++) all.remote.lastOf('refund').reply(null);
  assert.equal(
    all.remote.all('refund').map(({ args }) => args),
    [1, 2, 3].map((moment) => [[toRedis(moment)], moment]),
  );
});

timed('a limiter that nobody asks any more gives back too, when another one finds Redis back', (clock) => {
  const all = setUp();
  const idle = all.open('idle');
  goAway(all, clock);
  all.redis.status = 'reconnecting';
  idle.refund([toRedis(1)], 1, () => {});
  all.redis.status = 'ready';
  comeBack(all, clock);
  assert.equal(
    all.remote.all('refund').map(({ ledger }) => ledger),
    ['idle'],
  );
});

timed('no more is kept than there is room for; what is dropped keeps nobody', (clock) => {
  const all = setUp();
  goAway(all, clock);
  all.redis.status = 'reconnecting';
  const batch = Array.from({ length: 512 }, (_, i) => toRedis(i));
  for (let i = 0; i < 20; i++) assert.ok(refunding(all, ...batch).at);
  all.redis.status = 'ready';
  comeBack(all, clock);
  for (let i = 0; i < 16; i++) all.remote.lastOf('refund').reply(null);
  assert.is(all.remote.all('refund').length, 16);
  // What was sent has made room.
  all.redis.status = 'reconnecting';
  refunding(all, ...batch);
  for (let i = 0; i < 20; i++) refunding(all, ...batch);
  all.redis.status = 'ready';
  comeBack(all, clock);
  for (let i = 0; i < 16; i++) all.remote.lastOf('refund').reply(null);
  assert.is(all.remote.all('refund').length, 32);
});

timed('with Redis there, nothing is dropped, however much many limiters give back', () => {
  const all = setUp();
  const batch = Array.from({ length: 512 }, (_, i) => toRedis(i));
  for (let i = 0; i < 40; i++) all.open(`key ${i}`).refund(batch, 1, () => {});
  assert.is(all.remote.all('refund').length, 40);
});

test.run();
