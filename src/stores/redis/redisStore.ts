import type { Cluster, Redis } from 'ioredis';
import type { Limit } from '../../limits/limit.ts';
import {
  type Ledger,
  type LedgerConfig,
  outcome,
  type ReserveReply,
  type Run,
  type Segment,
  type Store,
} from '../store.ts';
import { errorOf } from './errors.ts';
import { escaped, keysOf } from './keys.ts';
import { type Script, scriptsOf } from './scripts.ts';

/** The extra number of a limit in the scripts, after its permits and interval. */
function extraOf(limit: Limit): number {
  if (limit.kind === 'slidingWindow') return limit.resolution;
  if (limit.kind === 'fixedWindow') return limit.align === 'epoch' ? 1 : 0;
  return limit.burst;
}

const kinds = { slidingWindow: 's', fixedWindow: 'f', tokenBucket: 't' } as const;

/** The limits as the scripts read them, named as in the keys of their logs. */
export function specOf(names: readonly string[], limits: readonly Limit[]): string {
  return JSON.stringify(
    limits.map((limit, i) => [
      escaped(names[i]),
      kinds[limit.kind],
      limit.permits,
      limit.interval,
      extraOf(limit),
    ]),
  );
}

/** Microseconds for a script; -1 for no bound. */
function microseconds(ms: number): number {
  return ms === Infinity ? -1 : Math.floor(ms * 1000);
}

/** The store of a fleet: each operation is one call of a script, which Redis runs by itself. */
export function redisStore(redis: Redis | Cluster): Store {
  const scripts = scriptsOf(redis);
  return { open: (config) => openRedisLedger(config, scripts) };
}

/**
 * The ledger of one limiter in Redis.
 *
 * `serverTime` is for tests alone, which compare the scripts with their twins at the same time: microseconds.
 */
export function openRedisLedger(
  { name, key, prefix, scope, clientId, names, limits }: Omit<LedgerConfig, 'clock'>,
  scripts: ReturnType<typeof scriptsOf>,
  serverTime?: () => number,
): Ledger {
  const keys = keysOf(prefix, name, names, scope === 'client' ? clientId : undefined, key);
  const spec = specOf(names, limits);
  const shared = [keys.ledger, keys.contenders, ...keys.logs];
  const client = escaped(clientId);
  // The sequence counts from 1 in every limiter: another one of the same client, or of its next life, has a key of its own.
  const line = `${client}:${globalThis.crypto.randomUUID()}`;
  const own = [keys.ledger, keys.sequence(line), ...keys.logs];

  /** Calls a script, and hands on what `read` makes of its answer, or an error of ours. */
  function call<T>(
    script: Script,
    scriptKeys: readonly string[],
    args: (string | number)[],
    read: (answer: number[] | number) => T,
    reply: (error: Error | null, value?: T) => void,
  ): void {
    if (serverTime) args.push(serverTime());
    let answered: Promise<unknown>;
    try {
      answered = script(scriptKeys, args);
    } catch (error) {
      reply(errorOf(name, error));
      return;
    }
    answered.then(
      (answer) => {
        let value: T;
        try {
          value = read(numbers(answer));
        } catch (error) {
          reply(errorOf(name, error));
          return;
        }
        reply(null, value);
      },
      (error) => reply(errorOf(name, error)),
    );
  }

  return {
    sync: false,
    source: 'redis',
    reserve({ runs, horizon, held, epoch }, reply) {
      const args: (string | number)[] = [client, spec, horizon, held, epoch, runs.length];
      for (const { count, maxWait, cost } of runs) args.push(count, microseconds(maxWait), ...cost);
      const read = (answer: number[] | number): ReserveReply => {
        if (typeof answer === 'number') {
          const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
          return { now: answer / 1000, epoch, contenders: 1, segments };
        }
        const [now, newEpoch, contenders] = answer;
        const segments = segmentsOf(answer);
        if (!coversAll(runs, segments)) throw malformed(answer);
        return { now: now / 1000, epoch: newEpoch, contenders, segments };
      };
      call(scripts.reserve, shared, args, read, reply);
    },
    refund(refunds, sequence, reply) {
      const args: (string | number)[] = [spec, sequence, refunds.length];
      for (const { moment, epoch, count, cost } of refunds) args.push(moment, epoch, count, ...cost);
      call(scripts.refund, own, args, () => undefined, reply);
    },
    decide(cost, reply) {
      const read = (answer: number[] | number) => {
        const [granted, wait, reset, ...available] = listed(answer, 3 + limits.length);
        return {
          granted: granted === 1,
          available,
          retryAfter: wait < 0 ? Infinity : wait / 1000,
          resetAfter: reset / 1000,
        };
      };
      call(scripts.decide, shared, [client, spec, ...cost], read, reply);
    },
    peek(reply) {
      call(scripts.peek, shared, [spec], (answer) => listed(answer, limits.length), reply);
    },
  };
}

/** The answer as whole numbers: a connection may be set to hand on strings. */
function numbers(answer: unknown): number[] | number {
  for (const item of Array.isArray(answer) ? answer : [answer])
    if (!/^-?\d+$/.test(String(item))) throw malformed(answer);
  return Array.isArray(answer) ? answer.map(Number) : Number(answer);
}

function listed(answer: number[] | number, length: number): number[] {
  if (Array.isArray(answer) && answer.length === length) return answer;
  throw malformed(answer);
}

function malformed(answer: unknown): TypeError {
  return new TypeError(`malformed reply: ${JSON.stringify(answer)}`);
}

/** Pairs of a count and a delay, after the three numbers of the reply's head. */
function segmentsOf(answer: number[]): Segment[] {
  const segments: Segment[] = [];
  for (let i = 3; i + 1 < answer.length; i += 2) {
    const [count, delay] = [answer[i], answer[i + 1]];
    if (delay >= 0) segments.push({ count, delay: delay / 1000, retryAfter: 0 });
    else if (delay === outcome.left) segments.push({ count, delay, retryAfter: 0 });
    else if (delay === outcome.never) segments.push({ count, delay, retryAfter: Infinity });
    else segments.push({ count, delay: outcome.refused, retryAfter: (outcome.never - delay) / 1000 });
  }
  return segments;
}

/** Whether the segments answer every request, each run's by themselves. */
function coversAll(runs: readonly Run[], segments: readonly Segment[]): boolean {
  let i = 0;
  for (const { count } of runs) {
    let left = count;
    while (left > 0) {
      const given = segments[i++]?.count;
      if (!(given > 0)) return false;
      left -= given;
    }
    if (left < 0) return false;
  }
  return i === segments.length;
}
