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
import { answerOf, asking, givenUp, granting, setUp } from './fakes.ts';

const lost = new StoreUnavailableError('api', new Error('the connection is closed'));

/** A refund to Redis of one permit, identified by its moment. */
function toRedis(moment: number, source: PermitSource = 'redis'): Refund {
  return { moment, epoch: 7, source, cost: [1], count: 1 };
}

/** Refunds, and returns the result. */
function refunding({ ledger }: ReturnType<typeof setUp>, ...refunds: Refund[]) {
  return answerOf<RefundReply>((reply) => ledger.refund(refunds, 1, reply));
}

/** Makes Redis unavailable: one call is not answered. */
function goAway({ ledger }: ReturnType<typeof setUp>, clock: { tick(ms: number): void }) {
  const answer = answerOf<ReserveReply>((reply) => ledger.reserve(asking(5), reply));
  clock.tick(givenUp);
  return answer.value!;
}

/** Makes Redis available again: one call is answered. */
function comeBack(
  { ledger, remote }: ReturnType<typeof setUp>,
  clock: { tick(ms: number): void },
  cooldown = 1000,
) {
  clock.tick(cooldown);
  ledger.peek(() => {});
  remote.answerProbe();
  remote.last.reply(null, [10]);
}

timed('refunds to Redis while Redis answers', () => {
  const all = setUp();
  const answer = refunding(all, toRedis(1), toRedis(2));
  assert.is(answer.at, undefined);
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(1), toRedis(2)]);
  all.remote.lastOf('refund').reply(null);
  assert.is(answer.error, null);
});

timed('refunds that a reply adds are sent before the calls that it makes after them', () => {
  const { ledger, remote } = setUp();
  ledger.refund([toRedis(1)], 1, () => {
    ledger.refund([toRedis(2)], 2, () => {});
    ledger.reserve(asking(1), () => {});
  });
  remote.last.reply(null);
  assert.equal(
    remote.calls.map(({ operation }) => operation),
    ['refund', 'refund', 'reserve'],
  );
});

timed('passes on the error reply to a refund, and does not repeat the refund', () => {
  const all = setUp();
  const answer = refunding(all, toRedis(1));
  const error = new StoreError('api', new Error('NOPERM'));
  all.remote.lastOf('refund').reply(error);
  assert.is(answer.error, error);
  assert.equal(all.changes, []);
  refunding(all, toRedis(2));
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(2)]);
});

timed('refunds each grant to the store that granted it', (clock) => {
  const all = setUp();
  const { now, epoch } = goAway(all, clock);
  const decided = () => answerOf<DecideReply>((reply) => all.ledger.decide([1], reply)).value;
  assert.not(decided()?.granted);
  const here = { moment: now, epoch, source: 'fallback', cost: [1], count: 2 } as const;
  assert.ok(refunding(all, toRedis(1), here).at);
  assert.is(decided()?.available[0], 1);
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(1)]);
});

timed('replies to refunds of both stores in their order', (clock) => {
  const all = setUp({ cooldown: 100 });
  const { now, epoch } = goAway(all, clock);
  comeBack(all, clock, 100);
  const here = { moment: now, epoch, source: 'fallback', cost: [1], count: 1 } as const;
  // Permits of more than an interval ago have come back since.
  const old = { ...here, moment: now - 5000 };
  const answer = refunding(all, here, toRedis(1), old, toRedis(2));
  all.remote.lastOf('refund').reply(null, { restored: [false, true] });
  assert.equal(answer.value, { restored: [true, false, false, true] });
});

timed('reports the permits that come back here if Redis receives its refunds later', (clock) => {
  const all = setUp();
  const { now, epoch } = goAway(all, clock);
  const old = { moment: now - 5000, epoch, source: 'fallback', cost: [1], count: 1 } as const;
  assert.equal(refunding(all, toRedis(1), old).value, { restored: [true, false] });
});

timed('fails if a release to the fallback is rejected, beside a refund to Redis', (clock) => {
  const all = setUp({ mode: 'reject' });
  goAway(all, clock);
  const answer = refunding(all, toRedis(1), toRedis(newestGrants));
  assert.instance(answer.error, StoreUnavailableError);
  comeBack(all, clock);
  assert.equal(all.remote.lastOf('refund').args[0], [toRedis(1)]);
});

timed('refunds local grants locally after the return of Redis', (clock) => {
  const all = setUp();
  const { now, epoch } = goAway(all, clock);
  comeBack(all, clock);
  const calls = all.remote.calls.length;
  assert.ok(refunding(all, { moment: now, epoch, source: 'fallback', cost: [1], count: 5 }).at);
  assert.is(all.remote.calls.length, calls);
});

timed('releases permits in the store in use', (clock) => {
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

timed('opens after an unanswered refund, and completes it at once', (clock) => {
  const all = setUp();
  const answer = refunding(all, toRedis(1));
  clock.tick(givenUp);
  assert.is(answer.at, givenUp);
  assert.is(all.changes.length, 1);
});

timed('has one refund call in flight at a time, in the order of the sequence numbers', () => {
  const all = setUp();
  refunding(all, toRedis(1));
  refunding(all, toRedis(2));
  assert.is(all.remote.calls.length, 1);
  all.remote.last.reply(null);
  assert.equal(all.remote.last.args, [[toRedis(2)], 2]);
});

timed('sends a refund made by the reply to another refund once', () => {
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

timed('repeats a failed refund on the return of Redis, without another refund', (clock) => {
  const all = setUp();
  refunding(all, toRedis(1));
  all.remote.last.reply(lost);
  comeBack(all, clock);
  assert.is(all.remote.all('refund').length, 2);
});

timed('repeats an unanswered refund on the return of Redis, as the same call', (clock) => {
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

timed('sends no refund while the connection is down, and all of them afterwards', (clock) => {
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

timed('sends the refunds of an idle limiter when another limiter finds Redis available', (clock) => {
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

timed(
  'sends the refunds of an idle limiter when the connection is ready and the cooldown is over',
  (clock) => {
    for (const away of [300, 5000]) {
      const all = setUp();
      goAway(all, clock);
      all.redis.become('close');
      refunding(all, toRedis(1));
      clock.tick(away);
      all.redis.become('ready');
      if (away < 1000) clock.tick(999 - away);
      assert.is(all.remote.all('peek').length, 0);
      clock.tick(1);
      all.remote.answerProbe();
      assert.equal(all.remote.last.args, [[toRedis(1)], 1]);
      all.remote.last.reply(null);
      clock.tick(10_000);
      assert.is(all.remote.all('peek').length, 1, 'nothing waits any more');
      assert.is(all.redis.listening, 0);
    }
  },
);

timed('probes again a cooldown later as long as an idle limiter has refunds', (clock) => {
  const all = setUp();
  refunding(all, toRedis(1));
  all.remote.last.reply(lost);
  for (const probes of [1, 2, 3]) {
    clock.tick(1000);
    assert.is(all.remote.all('peek').length, probes);
    all.remote.last.reply(new StoreUnavailableError('api', new Error('LOADING')));
  }
  all.redis.become('close');
  clock.tick(10_000);
  assert.is(all.remote.all('peek').length, 3, 'it is not ready');
  all.redis.become('ready');
  clock.tick(0);
  all.remote.answerProbe();
  assert.is(all.remote.all('refund').length, 2);
});

timed('probes by itself at most every 100 ms, whatever the cooldown is', (clock) => {
  const all = setUp({ cooldown: 0 });
  refunding(all, toRedis(1));
  all.remote.last.reply(lost);
  clock.tick(99);
  assert.is(all.remote.all('peek').length, 0);
  clock.tick(1);
  assert.is(all.remote.all('peek').length, 1);
});

timed('sends a refund again while its slot moves, and does not fall back', (clock) => {
  const all = setUp();
  const moving = new StoreUnavailableError('api', new Error('TRYAGAIN Multiple keys request'));
  const answer = refunding(all, toRedis(1));
  all.remote.last.reply(moving);
  assert.is(answer.error, null);
  clock.tick(1000);
  assert.is(all.remote.all('refund').length, 2);
  all.remote.last.reply(moving);
  clock.tick(1000);
  const [first, ...again] = all.remote.all('refund').map(({ args }) => args);
  assert.equal(again, [first, first]);
  assert.equal(all.changes, []);
});

timed('the probes of an idle limiter do not delay those of calls', (clock) => {
  const all = setUp();
  const other = all.open('other');
  goAway(all, clock);
  refunding(all, toRedis(1));
  all.remote.lastOf('refund').reply(lost);
  clock.tick(1000);
  assert.is(all.remote.all('peek').length, 1, 'it has no reply');
  const answer = answerOf<ReserveReply>((reply) => other.reserve(asking(), reply));
  assert.is(all.remote.last.ledger, 'other');
  all.remote.answerProbe();
  all.remote.lastOf('reserve').reply(null, granting(asking()));
  assert.is(answer.error, null);
  assert.is(other.source, 'redis');
});

timed('leaves no listener on a connection that makes no further attempt', (clock) => {
  const all = setUp();
  goAway(all, clock);
  all.redis.become('close');
  refunding(all, toRedis(1));
  assert.ok(all.redis.listening > 0);
  all.redis.become('end');
  assert.is(all.redis.listening, 0);
  refunding(all, toRedis(2));
  assert.is(all.redis.listening, 0);
  all.redis.become('ready');
  comeBack(all, clock);
  all.remote.lastOf('refund').reply(null);
  assert.is(all.remote.all('refund').length, 2);
});

timed('sends the next refunds if the client drops calls of a lost connection', (clock) => {
  const all = setUp();
  Object.assign(all.redis, { options: { autoResendUnfulfilledCommands: false } });
  const answer = refunding(all, toRedis(1));
  all.redis.become('close');
  assert.is(answer.error, null);
  const dropped = all.remote.lastOf('refund');
  all.redis.become('ready');
  comeBack(all, clock);
  const again = all.remote.lastOf('refund');
  assert.is(all.remote.all('refund').length, 2, 'it is sent again');
  assert.equal(again.args, dropped.args);
  dropped.reply(null);
  refunding(all, toRedis(2));
  assert.is(all.remote.all('refund').length, 2, 'the first one is on its way');
  again.reply(null);
  assert.equal(all.remote.lastOf('refund').args, [[toRedis(2)], 2]);
});

timed('keeps a bounded number of refunds, and completes those it drops', (clock) => {
  const all = setUp();
  goAway(all, clock);
  all.redis.status = 'reconnecting';
  const batch = Array.from({ length: 512 }, (_, i) => toRedis(i));
  for (let i = 0; i < 20; i++) assert.ok(refunding(all, ...batch).at);
  all.redis.status = 'ready';
  comeBack(all, clock);
  for (let i = 0; i < 16; i++) all.remote.lastOf('refund').reply(null);
  assert.is(all.remote.all('refund').length, 16);
  // The refunds that were sent have left the buffer.
  all.redis.status = 'reconnecting';
  refunding(all, ...batch);
  for (let i = 0; i < 20; i++) refunding(all, ...batch);
  all.redis.status = 'ready';
  comeBack(all, clock);
  for (let i = 0; i < 16; i++) all.remote.lastOf('refund').reply(null);
  assert.is(all.remote.all('refund').length, 32);
});

timed('drops no refund while Redis answers, for many refunds of many limiters', () => {
  const all = setUp();
  const batch = Array.from({ length: 512 }, (_, i) => toRedis(i));
  for (let i = 0; i < 40; i++) all.open(`key ${i}`).refund(batch, 1, () => {});
  assert.is(all.remote.all('refund').length, 40);
});

test.run();
