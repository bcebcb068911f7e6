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

/** A fallback in local mode, with the circuit open. */
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
function rows({ segments }: ReserveReply): number[][] {
  return segments.map(({ count, delay }) => [count, delay]);
}

timed('grants half of the limit, and delays the rest', () => {
  const { reserve, ledger } = away();
  assert.equal(rows(reserve({ count: 6 })), [
    [5, 0],
    [1, 1000],
  ]);
  assert.is(ledger.source, 'fallback');
});

timed('grants the part given by the ratio', () => {
  const { reserve } = away({ ratio: 0.2 });
  assert.equal(rows(reserve({ count: 3, maxWait: 0 })), [
    [2, 0],
    [1, outcome.refused],
  ]);
});

timed('applies the ratio to every limit of a record', () => {
  const limits = [
    slidingWindow({ permits: 10, interval: 1000 }),
    tokenBucket({ permits: 4, interval: 1000 }),
  ];
  const { ledger } = away({}, { limits });
  assert.equal(answerOf<number[]>((reply) => ledger.peek(reply)).value, [5, 2]);
});

timed('uses the stored rate in force, and keeps counting earlier grants', () => {
  const { reserve, remote, ledger } = away();
  reserve({ count: 2 });
  remote.limits = [slidingWindow({ permits: 40, interval: 1000 })];
  assert.equal(ledger.limits, remote.limits);
  assert.equal(rows(reserve({ count: 19, maxWait: 0 })), [
    [18, 0],
    [1, outcome.refused],
  ]);
});

timed('delays a request larger than the local part and all later ones, but not the earlier ones', (clock) => {
  const { reserve } = away();
  const reply = reserve({ count: 2 }, { cost: [6] }, { count: 3 }, { maxWait: 0 }, { maxWait: 500 });
  assert.equal(rows(reply), [
    [2, 0],
    [1, outcome.queued],
    [3, outcome.queued],
    [1, outcome.refused],
    [1, outcome.queued],
  ]);
  assert.ok(reply.retryAfter! > 0 && reply.retryAfter! <= 1000);
  clock.tick(1e6);
  // The wait has no known end, and must not cause an immediate retry.
  assert.ok(reserve({ cost: [6] }).retryAfter! >= 10);
});

timed('refuses a request larger than the local part if it may not wait', () => {
  const { reserve } = away();
  assert.equal(rows(reserve({ cost: [6], maxWait: 0 })), [[1, outcome.refused]]);
});

timed('refuses a request that exceeds the limit in force', () => {
  const { reserve } = away();
  assert.equal(rows(reserve({ cost: [11] }, { cost: [6] })), [
    [1, outcome.exceedsLimit],
    [1, outcome.queued],
  ]);
});

timed('decides locally, with the time to retry where only Redis can grant', () => {
  const { ledger } = away();
  const decide = (cost: number) => answerOf<DecideReply>((reply) => ledger.decide([cost], reply)).value!;
  const { granted, available } = decide(2);
  assert.equal([granted, available], [true, [3]]);
  const large = decide(6);
  assert.not(large.granted);
  assert.ok(large.retryAfter > 0 && large.retryAfter <= 1000);
  assert.is(decide(11).retryAfter, Infinity);
});

timed('has the name of the store that it replaces', () => {
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

timed('shares permits between limiters of one name only', () => {
  const { reserve, open } = away();
  reserve({ count: 5 });
  const [same, other] = [open('api'), open('other')];
  assert.equal(answerOf<number[]>((reply) => same.peek(reply)).value, [0]);
  assert.equal(answerOf<number[]>((reply) => other.peek(reply)).value, [5]);
});

timed('checks for the return of Redis with a request for no permits', () => {
  const { remote, redis, ledger, reserve } = away({ cooldown: 0 });
  assert.equal(rows(reserve({})), [[1, 0]]);
  redis.become('ready');
  const answer = answerOf<ReserveReply>((reply) => ledger.reserve({ ...asking(), runs: [] }, reply));
  remote.answerProbe();
  remote.last.reply(null, granting({ ...asking(), runs: [] }));
  assert.is(answer.value?.voidAfter, 0);
});

test.run();
