import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError, StoreUnavailableError } from '../../src/errors.ts';
import { type DecideReply, outcome, type ReserveReply } from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { answerOf, asking, givenUp, granting, setUp } from './fakes.ts';

timed('reject: fails every call with the reason, including the call that detects the failure', (clock) => {
  const { ledger, remote, redis } = setUp({ mode: 'reject' });
  const first = answerOf((reply) => ledger.reserve(asking(), reply));
  clock.tick(givenUp);
  redis.status = 'reconnecting';
  const answers = [
    first,
    answerOf((reply) => ledger.reserve(asking(), reply)),
    answerOf((reply) => ledger.decide([1], reply)),
    answerOf((reply) => ledger.peek(reply)),
    answerOf((reply) => ledger.pause(100, reply)),
    answerOf((reply) => ledger.getRate(reply)),
    answerOf((reply) => ledger.setRate({ limits: [], ifAbsent: true, keepState: true }, reply)),
    answerOf((reply) => ledger.forget({ rate: true }, reply)),
  ];
  for (const { at, error } of answers) {
    assert.is(at, givenUp);
    assert.instance(error, StoreUnavailableError);
    assert.match(
      error!.message,
      /^limiter "api": Redis cannot be reached: no answer within 500 ms; check the connection$/,
    );
  }
  assert.is(remote.calls.length, 1);
});

for (const mode of ['local', 'allow', 'reject'] as const)
  timed(`${mode}: does not hide that Redis refuses the connection`, (clock) => {
    const { ledger, redis } = setUp({ mode });
    redis.on('error', () => {});
    redis.status = 'connecting';
    const first = answerOf((reply) => ledger.reserve(asking(), reply));
    const refused = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
      name: 'ReplyError',
    });
    redis.emit('error', refused);
    redis.become('close');
    clock.tick(0);
    for (const answer of [first, answerOf((reply) => ledger.decide([1], reply))]) {
      assert.instance(answer.error, StoreError);
      assert.is(answer.error?.cause, refused);
    }
  });

timed('reject: answers from Redis after the cooldown', (clock) => {
  const { ledger, remote } = setUp({ mode: 'reject' });
  ledger.reserve(asking(), () => {});
  clock.tick(givenUp + 1000);
  const answer = answerOf<ReserveReply>((reply) => ledger.reserve(asking(), reply));
  remote.answerProbe();
  remote.last.reply(null, granting(asking()));
  assert.ok(answer.value);
});

timed('allow: grants everything at once, in the order of the requests', () => {
  const { ledger, redis } = setUp({ mode: 'allow' });
  redis.status = 'end';
  const { value } = answerOf<ReserveReply>((reply) => ledger.reserve(asking(1000, [10], 0), reply));
  assert.equal(value?.segments, [{ count: 1000, delay: 0, retryAfter: 0 }]);
  assert.is(value?.now, Date.now());
  assert.is(ledger.source, 'fallback');
  const decision = answerOf<DecideReply>((reply) => ledger.decide([10], reply)).value;
  assert.equal(decision, { granted: true, available: [10], retryAfter: 0, resetAfter: 0 });
  assert.equal(answerOf<number[]>((reply) => ledger.peek(reply)).value, [10]);
  assert.is(
    answerOf((reply) =>
      ledger.refund([{ moment: 1, epoch: 0, source: 'fallback', cost: [1], count: 1 }], 1, reply),
    ).error,
    null,
  );
});

timed('allow: refuses a request that exceeds the limit in force', () => {
  const { ledger, redis } = setUp({ mode: 'allow' });
  redis.status = 'end';
  const { value } = answerOf<ReserveReply>((reply) => ledger.reserve(asking(1, [11]), reply));
  assert.is(value?.segments[0].delay, outcome.exceedsLimit);
  assert.not(answerOf<DecideReply>((reply) => ledger.decide([11], reply)).value?.granted);
});

timed('allow: enforces a pause', (clock) => {
  const { ledger, redis } = setUp({ mode: 'allow' });
  redis.status = 'end';
  assert.is(answerOf<number>((reply) => ledger.pause(300, reply)).value, 300);
  assert.is(answerOf<number>((reply) => ledger.pause(100, reply)).value, 300);
  const reserve = (maxWait: number) =>
    answerOf<ReserveReply>((reply) => ledger.reserve(asking(1, [1], maxWait), reply)).value!;
  assert.equal(reserve(Infinity).segments[0].delay, outcome.queued);
  assert.is(reserve(Infinity).retryAfter, 300);
  assert.is(reserve(200).segments[0].delay, outcome.refused);
  assert.not(answerOf<DecideReply>((reply) => ledger.decide([1], reply)).value?.granted);
  clock.tick(300);
  assert.is(reserve(0).segments[0].delay, 0);
});

test.run();
