import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/errors.ts';
import { KeyedLimiters, room, roomOfPaused } from '../../src/limiter/keyedLimiters.ts';
import { KeyedLine } from '../../src/limiter/keyedLine.ts';
import { sharedParts } from '../../src/limiter/limiterParts.ts';
import type { ControlledLedger, ReserveReply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { limitNames } from '../support/limitNames.ts';
import { answerOf, asking, givenUp, granting, limit, setUp } from './fakes.ts';

type All = ReturnType<typeof setUp>;

function reserving({ ledger }: All, maxWait = Infinity) {
  return answerOf<ReserveReply>((reply) => ledger.reserve(asking(1, [1], maxWait), reply));
}

function pausing({ ledger }: All, ms: number) {
  return answerOf<number>((reply) => ledger.pause(ms, reply));
}

/** Breaks or restores the connection. */
function become({ redis }: All, status: 'close' | 'end' | 'ready'): void {
  redis.become(status);
}

/** A fallback whose connection is ready again, and that has paused before. */
function pausedWhileAway(ms: number): All {
  const all = setUp();
  become(all, 'close');
  all.redis.status = 'reconnecting';
  pausing(all, ms);
  become(all, 'ready');
  return all;
}

timed('changes the rate and the pause in Redis while Redis answers', () => {
  const all = setUp();
  const { ledger, remote } = all;
  const paused = pausing(all, 300);
  remote.last.reply(null, 300);
  assert.is(paused.value, 300);
  const change = { limits: ledger.limits, ifAbsent: true, keepState: false };
  const stored = answerOf<boolean>((reply) => ledger.setRate(change, reply));
  assert.equal(remote.last.args, [change]);
  remote.last.reply(null, true);
  assert.is(stored.value, true);
  const rate = answerOf((reply) => ledger.getRate(reply));
  remote.last.reply(null, { limits: ledger.limits, stored: true });
  assert.equal(rate.value, { limits: ledger.limits, stored: true });
  const forgotten = answerOf((reply) => ledger.forget({ rate: true }, reply));
  assert.equal(remote.last.args, [{ rate: true }]);
  remote.last.reply(null);
  assert.is(forgotten.error, null);
});

timed('rejects changes of the stored rate, and reports none, while Redis is unavailable', () => {
  const all = setUp();
  const { ledger, remote } = all;
  become(all, 'end');
  const change = { limits: ledger.limits, ifAbsent: true, keepState: false };
  for (const { error } of [
    answerOf((reply) => ledger.setRate(change, reply)),
    answerOf((reply) => ledger.getRate(reply)),
    answerOf((reply) => ledger.forget({ rate: false }, reply)),
  ])
    assert.instance(error, StoreUnavailableError);
  assert.is(remote.calls.length, 0);
});

timed('applies a pause locally while Redis is unavailable', (clock) => {
  const all = setUp();
  become(all, 'end');
  assert.is(pausing(all, 300).value, 300);
  assert.is(reserving(all, 0).value?.segments[0].delay, -3);
  clock.tick(300);
  assert.is(reserving(all, 0).value?.segments[0].delay, 0);
});

timed('sends a local pause to Redis on its return, for the time that remains', (clock) => {
  const all = setUp({ cooldown: 0 });
  become(all, 'end');
  pausing(all, 300);
  clock.tick(100);
  become(all, 'ready');
  const back = reserving(all);
  all.remote.answerProbe();
  all.remote.lastOf('reserve').reply(null, granting(asking()));
  const [pause] = all.remote.all('pause');
  assert.equal(pause.args, [200]);
  // Redis receives the pause before the next reserve.
  assert.equal(
    all.remote.calls.map(({ operation }) => operation),
    ['peek', 'pause', 'reserve'],
  );
  // The grants of this very reply wait as well.
  assert.is(back.value?.paused, 200);
  pause.reply(null, 200);
  const next = reserving(all);
  all.remote.last.reply(null, granting(asking()));
  assert.is(next.value?.paused, undefined);
  assert.is(all.remote.all('pause').length, 1);
});

timed('keeps a refund whose call is the first to find Redis unavailable', () => {
  const all = setUp({ cooldown: 0 });
  become(all, 'end');
  const refund = { moment: 1, epoch: 1, source: 'redis' as const, cost: [1], count: 1 };
  const given = answerOf((reply) => all.ledger.refund([refund], 1, reply));
  assert.is(given.error, null);
  become(all, 'ready');
  reserving(all);
  all.remote.answerProbe();
  all.remote.lastOf('reserve').reply(null, granting(asking()));
  assert.is(all.remote.all('refund').length, 1);
});

timed('sends a pause of an idle limiter when Redis is available again, until Redis has it', (clock) => {
  const all = pausedWhileAway(9000);
  clock.tick(1000);
  all.remote.answerProbe();
  assert.equal(all.remote.last.args, [8000]);
  all.remote.last.reply(new StoreUnavailableError('api', new Error('LOADING')));
  clock.tick(1000);
  assert.equal(all.remote.last.args, [7000]);
  all.remote.last.reply(null, 7000);
  clock.tick(1000);
  assert.is(all.remote.all('pause').length, 2);
});

timed('a pause whose call has no reply is not lengthened, and does not end the service of Redis', (clock) => {
  const all = pausedWhileAway(9000);
  clock.tick(1000);
  all.remote.answerProbe();
  clock.tick(givenUp);
  const answer = reserving(all);
  assert.is(all.remote.last.operation, 'reserve');
  all.remote.last.reply(null, granting(asking()));
  assert.is(answer.value?.paused, 9000 - 1000 - givenUp);
  clock.tick(1000);
  assert.is(all.remote.all('pause').length, 2);
  all.remote.last.reply(null, 9000 - 2000 - givenUp);
  reserving(all);
  all.remote.last.reply(null, granting(asking()));
  clock.tick(5000);
  assert.is(all.remote.all('pause').length, 2);
});

timed('does not probe for a pause that is over', (clock) => {
  const all = pausedWhileAway(2500);
  for (let i = 0; i < 10; i++) {
    clock.tick(1000);
    if (all.remote.last?.operation === 'peek')
      all.remote.last.reply(new StoreUnavailableError('api', new Error('LOADING')));
  }
  assert.is(all.remote.all('peek').length, 2);
});

for (const mode of ['local', 'allow'] as const)
  timed(`a pause that Redis has lifted since does not apply in the next outage: ${mode}`, (clock) => {
    const all = setUp({ mode });
    become(all, 'end');
    pausing(all, 60_000);
    assert.is(reserving(all, 0).value?.segments[0].delay, -3);
    become(all, 'ready');
    clock.tick(1000);
    all.ledger.forget({ rate: false }, () => {});
    all.remote.answerProbe();
    all.remote.lastOf('forget').reply(null);
    become(all, 'end');
    assert.is(reserving(all, 0).value?.segments[0].delay, 0);
  });

timed('does not send a pause that is over', (clock) => {
  const all = setUp({ cooldown: 0 });
  become(all, 'end');
  pausing(all, 300);
  clock.tick(300);
  become(all, 'ready');
  reserving(all);
  all.remote.answerProbe();
  all.remote.last.reply(null, granting(asking()));
  assert.is(all.remote.all('pause').length, 0);
});

timed('applies a pause read from Redis for its remaining time when Redis becomes unavailable', (clock) => {
  const all = setUp();
  reserving(all);
  all.remote.last.reply(null, granting(asking(), { paused: 300 }));
  clock.tick(100);
  become(all, 'end');
  assert.is(reserving(all, 0).value?.segments[0].delay, -3);
  clock.tick(200);
  assert.is(reserving(all, 0).value?.segments[0].delay, 0);
});

timed('applies a pause set in Redis by this process when Redis becomes unavailable', () => {
  const all = setUp();
  pausing(all, 300);
  all.remote.last.reply(null, 300);
  become(all, 'end');
  assert.is(reserving(all, 0).value?.segments[0].delay, -3);
});

timed('does not send a pause that Redis already has', () => {
  const all = setUp({ cooldown: 0 });
  reserving(all);
  all.remote.last.reply(null, granting(asking(), { paused: 300 }));
  become(all, 'end');
  reserving(all);
  become(all, 'ready');
  reserving(all);
  all.remote.answerProbe();
  all.remote.last.reply(null, granting(asking(), { paused: 300 }));
  assert.is(all.remote.all('pause').length, 0);
});

timed('does not apply a pause that was lifted in Redis', () => {
  for (const lift of ['a reply', 'a reset']) {
    const all = setUp();
    pausing(all, 300);
    all.remote.last.reply(null, 300);
    if (lift === 'a reply') reserving(all);
    else all.ledger.forget({ rate: false }, () => {});
    all.remote.last.reply(null, lift === 'a reply' ? granting(asking()) : undefined);
    become(all, 'end');
    assert.is(reserving(all, 0).value?.segments[0].delay, 0, lift);
  }
});

/** The limiters of a group with a fallback; each stands for its key. */
function groupOf({ store }: All) {
  const limiters = new KeyedLimiters<string>({ ...sharedParts({ name: 'api' }, {}, true), store });
  const add = (key: string) => {
    const limits = [limit];
    const line = new KeyedLine<unknown, string>(limiters, key, {
      record: false,
      names: limitNames(limits),
      limits,
    });
    line.limiter = key;
    limiters.add(line);
    return line;
  };
  return { limiters, add };
}

for (const source of ['redis', 'fallback'])
  timed(`no limiter of a group that holds a pause is evicted: ${source}`, (clock) => {
    const all = setUp({ mode: 'allow' });
    const { limiters, add } = groupOf(all);
    if (source === 'fallback') become(all, 'end');
    const { ledger } = add('paused');
    ledger.pause(300, () => {});
    if (source === 'redis') all.remote.last.reply(null, 300);
    for (let i = 0; i < 2 * room; i++) add(`other ${i}`);
    assert.is(limiters.find('paused'), 'paused');
    assert.is(limiters.size, room);
    become(all, 'end');
    assert.is(reserving({ ...all, ledger }, 0).value?.segments[0].delay, -3);
    clock.tick(300);
    for (let i = 0; i < 2 * room; i++) add(`another ${i}`);
    assert.is(limiters.find('paused'), undefined);
  });

timed('limiters of a group that hold pauses are evicted beyond a bound', () => {
  const { limiters, add } = groupOf(setUp());
  for (let i = 0; i < 2 * roomOfPaused; i++) add(`key ${i}`).opened = { isPaused: true } as ControlledLedger;
  assert.is(limiters.size, roomOfPaused);
});

test.run();
