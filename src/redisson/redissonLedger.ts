import { coversAll, malformed, segmentsOf } from '../stores/redis/replies.ts';
import { microseconds } from '../stores/redis/words.ts';
import {
  debt,
  type Ledger,
  newestGrants,
  outcome,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type Run,
} from '../stores/store.ts';
import { byCall, firstRuns } from './callBatches.ts';
import type { RedissonKeys } from './keys.ts';
import { limitOf, unknownLimit } from './limitOf.ts';
import { bytesOf, entryOf } from './logEntry.ts';
import { RefundNumbers } from './refundNumbers.ts';
import { failureOf, numbersOf } from './replies.ts';
import type { RedissonScripts } from './scripts.ts';

/** Numbers before the pairs of a reply to acquire. */
const head = 6;
/** A segment of one request, without its delay. */
const one = { count: 1, retryAfter: 0 };

/** Whether a reply to acquire begins with a time, and none of the numbers before the pairs is negative. */
function isReply(numbers: readonly number[]): boolean {
  return numbers[0] > 0 && numbers.slice(1, head).every((n) => n >= 0);
}

/** Whether a reply is one count of permits. */
function isOne(numbers: readonly number[]): boolean {
  return numbers.length === 1 && numbers[0] >= 0;
}

/**
 * The ledger on the keys of Redisson. It cannot reserve, as the log holds no future moments: it grants permits that are free,
 * and replies when the first request of the queue may ask again.
 *
 * The epoch of a grant is the number of its call. With the bytes of the `line`, it identifies the entries in the log.
 */
export function openRedissonLedger(
  name: string,
  keys: RedissonKeys,
  line: string,
  scripts: RedissonScripts,
): Ledger {
  let limits = [unknownLimit];
  let calls = Math.floor(Math.random() * 2 ** 32);
  let releases = 0;
  const refundNumbers = new RefundNumbers();

  function learn(rate: number, interval: number): void {
    limits = [limitOf(rate, interval)];
  }

  /** Calls the script; the first request asks for `first` permits. */
  async function ask(first: number, args: readonly number[]): Promise<{ call: number; answer: number[] }> {
    const call = ++calls;
    const answer = [await scripts.acquire(keys.all, [entryOf(bytesOf(line, call), first), ...args])].flat();
    return { call, answer: numbersOf(name, answer, isReply) };
  }

  /** Asks for the runs. Resolves to the numbers of the reply and the segments. */
  async function acquire(runs: readonly Run[]) {
    const args = runs.flatMap(({ cost, count, maxWait }) => [cost[0], count, microseconds(maxWait)]);
    const { call, answer } = await ask(args[0] ?? 0, args);
    return { call, ...read(runs, answer) };
  }

  function read(runs: readonly Run[], answer: number[]) {
    const segments = segmentsOf(answer, head);
    const [now, rate, interval, free, reset, wait] = answer;
    if (!(rate > 0 && interval > 0 && coversAll(runs, segments))) throw malformed(answer);
    learn(rate, interval);
    return { now: now / 1000, rate, interval, free, reset: reset / 1000, wait: wait / 1000, segments };
  }

  /** Asks for one request: the reply may be short, with the time and the wait only. */
  async function acquireOne(run: Run) {
    const { call, answer } = await ask(run.cost[0], [run.cost[0]]);
    const [now, wait = 0] = answer;
    const delay = wait === 0 ? 0 : outcome.queued;
    const brief = { rate: undefined, now: now / 1000, wait: wait / 1000, segments: [{ ...one, delay }] };
    const parsed = answer.length <= 2 ? brief : read([run], answer);
    if (parsed.wait <= run.maxWait) return { call, ...parsed };
    const refused = { ...one, delay: outcome.refused, retryAfter: parsed.wait };
    return { call, ...parsed, wait: 0, segments: [refused] };
  }

  async function reserve(runs: readonly Run[], reply: Reply<ReserveReply>): Promise<void> {
    const { sent, rest } = firstRuns(runs);
    const single = sent.length === 1 && sent[0].count === 1;
    const { call, now, rate, wait, segments } = await (single ? acquireOne(sent[0]) : acquire(sent));
    for (const count of rest) segments.push({ count, delay: outcome.queued, retryAfter: 0 });
    const [{ permits, interval }] = limits;
    // The error of a request for more than the rate names the rate of this reply, and no older one.
    if (rate !== undefined) limits = [limitOf(permits, interval, permits)];
    reply(null, { now, epoch: call, contenders: 1, segments, retryAfter: wait });
    limits = [limitOf(limits[0].permits, limits[0].interval)];
  }

  async function refund(refunds: readonly Refund[], sequence: number): Promise<RefundReply> {
    const granted = byCall(refunds.filter(({ moment }) => moment >= 0));
    if (granted.length > 0) {
      const calls = granted.map(({ call }) => call);
      const args: (string | number)[] = [refundNumbers.next(calls, sequence)];
      for (const { call, moment, permits } of granted) args.push(bytesOf(line, call), moment, permits);
      await scripts.refund(keys.all, args);
    }
    for (const { moment, cost, count } of refunds)
      if (moment === newestGrants) await release(cost[0] * count);
      else if (moment === debt) await charge(cost[0] * count);
    return {};
  }

  /** Charges permits that were used without a grant, as far as they are free: nothing can be reserved on these keys. */
  async function charge(permits: number): Promise<void> {
    const take = (n: number) => acquire([{ count: 1, cost: [n], maxWait: 0 }]);
    const { segments, free } = await take(permits);
    if (segments[0].delay !== 0 && free > 0) await take(Math.min(free, permits));
  }

  async function release(permits: number): Promise<void> {
    const releaseKeys = [...keys.all, keys.sequence(line)];
    for (let left = permits; left > 0; ) {
      const answer = numbersOf(
        name,
        await scripts.release(releaseKeys, [left, ++releases]),
        // A call that leaves more to release has released something, so that this loop ends.
        ([given, more, ...rest]) => rest.length === 0 && (more === 1 ? given > 0 : more === 0 && given >= 0),
      );
      left = answer[1] === 1 ? left - answer[0] : 0;
    }
  }

  function answered<T>(answer: Promise<T>, reply: Reply<T>): void {
    answer.then(
      (value) => reply(null, value),
      (error) => reply(failureOf(name, error)),
    );
  }

  return {
    sync: false,
    source: 'redis',
    get limits() {
      return limits;
    },
    reserve({ runs }, reply) {
      reserve(runs, reply).catch((error) => reply(failureOf(name, error)));
    },
    refund(refunds, sequence, reply) {
      answered<RefundReply>(refund(refunds, sequence), reply);
    },
    decide(cost, reply) {
      const decision = async () => {
        const { segments, free, reset } = await acquire([{ count: 1, cost, maxWait: 0 }]);
        const [{ delay, retryAfter }] = segments;
        return { granted: delay === 0, available: [free], retryAfter, resetAfter: reset };
      };
      answered(decision(), reply);
    },
    peek(reply) {
      answered(
        scripts.available(keys.all, []).then((answer) => numbersOf(name, answer, isOne)),
        reply,
      );
    },
  };
}
