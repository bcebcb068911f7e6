import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { monotonicClock } from '../../src/clock.ts';
import { slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { Circuit } from '../../src/stores/fallback/circuit.ts';
import { Local } from '../../src/stores/fallback/local.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import {
  type DecideReply,
  outcome,
  type ReserveReply,
  type Run,
  type Store,
} from '../../src/stores/store.ts';
import { timed } from '../support/fakeTime.ts';
import { answerOf, asking, granting, limit, setUp } from './fakes.ts';

/** A fallback that has taken the place of Redis. */
function away(...options: Parameters<typeof setUp>) {
  const all = setUp(...options);
  all.redis.status = 'end';
  const reserve = (...runs: Partial<Run>[]) =>
    answerOf<ReserveReply>((reply) =>
      all.ledger.reserve(
        { ...asking(), runs: runs.map((run) => ({ count: 1, cost: [1], maxWait: Infinity, ...run })) },
        reply,
      ),
    ).value!;
  return { ...all, reserve };
}

/** The counts and delays of a reply. */
function told({ segments }: ReserveReply): number[][] {
  return segments.map(({ count, delay }) => [count, delay]);
}

timed('half of the limit is granted here, and what is more waits', () => {
  const { reserve, ledger } = away();
  assert.equal(told(reserve({ count: 6 })), [
    [5, 0],
    [1, 1000],
  ]);
  assert.is(ledger.source, 'fallback');
});

timed('the part is that of the ratio', () => {
  const { reserve } = away({ ratio: 0.2 });
  assert.equal(told(reserve({ count: 3, maxWait: 0 })), [
    [2, 0],
    [1, outcome.refused],
  ]);
});

timed('a part of every limit of a record', () => {
  const limits = [
    slidingWindow({ permits: 10, interval: 1000 }),
    tokenBucket({ permits: 4, interval: 1000 }),
  ];
  const { ledger } = away({}, { limits });
  assert.equal(answerOf<number[]>((reply) => ledger.peek(reply)).value, [5, 2]);
});

timed(
  'what counts is the rate in force, which may have been stored; what was granted goes on counting',
  () => {
    const { reserve, remote, ledger } = away();
    reserve({ count: 2 });
    remote.limits = [slidingWindow({ permits: 40, interval: 1000 })];
    assert.equal(ledger.limits, remote.limits);
    assert.equal(told(reserve({ count: 19, maxWait: 0 })), [
      [18, 0],
      [1, outcome.refused],
    ]);
  },
);

timed(
  'a request that is too large for this process waits, and all behind it; those before it do not',
  (clock) => {
    const { reserve } = away();
    const reply = reserve({ count: 2 }, { cost: [6] }, { count: 3 }, { maxWait: 0 }, { maxWait: 500 });
    assert.equal(told(reply), [
      [2, 0],
      [1, outcome.queued],
      [3, outcome.queued],
      [1, outcome.refused],
      [1, outcome.queued],
    ]);
    assert.ok(reply.retryAfter! > 0 && reply.retryAfter! <= 1000);
    clock.tick(1e6);
    // There is no end to the wait: it must not be asked for again at once, either.
    assert.ok(reserve({ cost: [6] }).retryAfter! >= 10);
  },
);

timed('one that will not wait is refused when it is too large', () => {
  const { reserve } = away();
  assert.equal(told(reserve({ cost: [6], maxWait: 0 })), [[1, outcome.refused]]);
});

timed('more than the limit in force is refused as ever', () => {
  const { reserve } = away();
  assert.equal(told(reserve({ cost: [11] }, { cost: [6] })), [
    [1, outcome.exceedsLimit],
    [1, outcome.queued],
  ]);
});

timed(
  'a decision is of this process, and says when to ask again where it can only be granted by Redis',
  () => {
    const { ledger } = away();
    const decide = (cost: number) => answerOf<DecideReply>((reply) => ledger.decide([cost], reply)).value!;
    const { granted, available } = decide(2);
    assert.equal([granted, available], [true, [3]]);
    const large = decide(6);
    assert.not(large.granted);
    assert.ok(large.retryAfter > 0 && large.retryAfter <= 1000);
    assert.is(decide(11).retryAfter, Infinity);
  },
);

timed('its name says what it stands for', () => {
  const names: string[] = [];
  const memory = memoryStore();
  const named: Store = {
    open(config) {
      names.push(config.name);
      return memory.open(config);
    },
  };
  const config = { name: 'api', prefix: 'sluice', clientId: 'me', names: [''], limits: [limit] };
  const clock = monotonicClock();
  const local = new Local({ ...config, clock }, new Circuit(0), named, () => [limit], 0.5);
  local.peek(() => {});
  assert.equal(new Set(names), new Set(['redis_fallback:api']));
});

timed('limiters of two names share nothing here, two of one name do', () => {
  const { reserve, open } = away();
  reserve({ count: 5 });
  const [same, other] = [open('api'), open('other')];
  assert.equal(answerOf<number[]>((reply) => same.peek(reply)).value, [0]);
  assert.equal(answerOf<number[]>((reply) => other.peek(reply)).value, [5]);
});

timed('a request that asks for nothing asks whether Redis is back', () => {
  const { remote, redis, ledger, reserve } = away({ cooldown: 0 });
  assert.equal(told(reserve({})), [[1, 0]]);
  redis.become('ready');
  const answer = answerOf<ReserveReply>((reply) => ledger.reserve({ ...asking(), runs: [] }, reply));
  remote.answerProbe();
  remote.last.reply(null, granting({ ...asking(), runs: [] }));
  assert.is(answer.value?.voidAfter, 0);
});

test.run();
