import type { Cluster, Redis } from 'ioredis';
import type { DecideReply, LedgerConfig, RefundReply, ReserveReply, SteeredLedger, Store } from '../store.ts';
import { type Answer, coversAll, listed, malformed, segmentsOf } from './answers.ts';
import { escaped, keysOf } from './keys.ts';
import { ScriptCalls } from './scriptCalls.ts';
import { scriptsOf } from './scripts.ts';
import { specOf } from './spec.ts';

/** Microseconds for a script; -1 for no bound. */
function microseconds(ms: number): number {
  return ms === Infinity ? -1 : Math.floor(ms * 1000);
}

/** Milliseconds of a script's microseconds; undefined for its -1. */
function milliseconds(us: number): number | undefined {
  return us < 0 ? undefined : us / 1000;
}

/** The store of a fleet: each operation is one call of a script, which Redis runs by itself. */
export function redisStore(redis: Redis | Cluster): Store {
  const scripts = scriptsOf(redis);
  return { open: (config) => openRedisLedger(config, scripts) };
}

/** The numbers before the segments of a reply. */
const head = 5;

/**
 * The ledger of one limiter in Redis.
 *
 * `serverTime` is for tests alone, which compare the scripts with their twins at the same time: microseconds.
 */
export function openRedisLedger(
  { name, key, prefix, scope, clientId, names, limits }: Omit<LedgerConfig, 'clock'>,
  scripts: ReturnType<typeof scriptsOf>,
  serverTime?: () => number,
): SteeredLedger {
  const keys = keysOf(prefix, name, names, scope === 'client' ? clientId : undefined, key);
  const shared = [keys.ledger, keys.contenders, keys.control, ...keys.logs];
  const client = escaped(clientId);
  // The sequence counts from 1 in every limiter: another one of the same client, or of its next life, has a key of its own.
  const line = `${client}:${globalThis.crypto.randomUUID()}`;
  const ofLine = [keys.ledger, keys.sequence(line), keys.control, ...keys.logs];
  const calls = new ScriptCalls({ name, names, limits, control: keys.control, serverTime });

  return {
    sync: false,
    source: 'redis',
    get limits() {
      return calls.rate.limits;
    },
    reserve({ runs, horizon, held, epoch, last }, reply) {
      const after: (string | number)[] = [
        horizon,
        held,
        epoch,
        last?.moment ?? 0,
        last?.epoch ?? 0,
        runs.length,
      ];
      for (const { count, maxWait, cost } of runs) after.push(count, microseconds(maxWait), ...cost);
      const read = (answer: number[] | number): ReserveReply => {
        if (typeof answer === 'number') {
          const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
          return { now: answer / 1000, epoch, contenders: 1, segments };
        }
        const [now, newEpoch, contenders, paused, standing] = answer;
        const segments = segmentsOf(answer, head);
        if (standing === undefined || !coversAll(runs, segments)) throw malformed(answer);
        const replied: ReserveReply = { now: now / 1000, epoch: newEpoch, contenders, segments };
        if (paused >= 0) replied.paused = milliseconds(paused);
        if (standing >= 0) replied.standing = milliseconds(standing);
        return replied;
      };
      calls.call(
        { script: scripts.reserve, keys: shared, before: [client], quick: true, after },
        read,
        reply,
      );
    },
    refund(refunds, sequence, reply) {
      const after: (string | number)[] = [sequence, refunds.length];
      for (const { moment, epoch, count, cost } of refunds) after.push(moment, epoch, count, ...cost);
      const read = (answer: number[] | number): RefundReply => {
        // The sequence was known: what the call gave back was told to the one before it.
        if (Array.isArray(answer) && answer.length === 0) return {};
        return { restored: listed(answer, refunds.length).map((given) => given === 1) };
      };
      calls.call({ script: scripts.refund, keys: ofLine, before: [], after }, read, reply);
    },
    decide(cost, reply, last) {
      const read = (answer: number[] | number): DecideReply => {
        const length = 3 + names.length;
        // Of several limits, the one that refuses for longest is named.
        const isNamed = Array.isArray(answer) && answer.length > length && names.length > 1;
        const [granted, wait, reset, ...rest] = listed(answer, isNamed ? length + 1 : length);
        const refusing = rest[names.length];
        if (refusing >= names.length) throw malformed(answer);
        return {
          granted: granted === 1,
          available: rest.slice(0, names.length),
          retryAfter: milliseconds(wait) ?? Infinity,
          resetAfter: reset / 1000,
          ...(refusing >= 0 ? { refusing } : {}),
        };
      };
      const after = last ? [...cost, last.moment, last.epoch] : cost;
      calls.call({ script: scripts.decide, keys: shared, before: [client], quick: true, after }, read, reply);
    },
    peek(reply) {
      const read = (answer: number[] | number) => listed(answer, names.length);
      calls.call({ script: scripts.peek, keys: shared, before: [], after: [] }, read, reply);
    },
    setRate(change, reply) {
      const spec = specOf(names, change.limits);
      const { ifNone, keepState } = change;
      const read = (answer: Answer) => {
        const stored = listed(answer, 1)[0] === 1;
        if (stored) calls.follow(spec);
        return stored;
      };
      calls.send(scripts.configure, shared, [spec, ifNone ? 1 : 0, keepState ? 1 : 0], read, reply);
    },
    getRate(reply) {
      const read = (answer: Answer) => {
        if (typeof answer !== 'string') throw malformed(answer);
        calls.follow(answer);
        const { limits, stored } = calls.rate;
        return { limits, stored };
      };
      calls.send(scripts.configure, shared, ['', 0, 0], read, reply);
    },
    pause(ms, reply) {
      calls.send(
        scripts.pause,
        shared,
        [Math.floor(ms * 1000)],
        (answer) => listed(answer, 1)[0] / 1000,
        reply,
      );
    },
    forget({ rate }, reply) {
      const read = () => {
        if (rate) calls.follow('[]');
      };
      calls.send(scripts.forget, shared, [rate ? 1 : 0], read, reply);
    },
  };
}
