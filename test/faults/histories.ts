import type { Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/index.ts';
import { redisStore } from '../../src/stores/redis/redisStore.ts';
import { timedStore } from '../../src/stores/redis/timedStore.ts';
import { breachesOf } from '../history/check.ts';
import type { Fault, HistoryEvent } from '../history/events.ts';
import { historiesOf } from '../history/histories.ts';
import { recordedStore } from '../history/recordedLimiter.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import type { Requests } from './requests.ts';

interface Recording {
  readonly started: HistoryEvent;
  /** The calls of the store. */
  readonly calls: HistoryEvent[];
}

const recordings = new WeakMap<RateLimiter, Recording>();

/** A limiter whose calls to Redis are recorded for `assertValid`. */
export function recordedLimiter(
  name: string,
  spec: LimitSpec,
  redis: Redis,
  storeTimeout = 30_000,
): RateLimiter {
  const calls: HistoryEvent[] = [];
  const history = {
    write: (event: object) => calls.push({ at: Date.now(), ...event } as HistoryEvent),
    flush() {},
  };
  const store = recordedStore(timedStore(redisStore(redis), redis, storeTimeout), history);
  const limiter = new RateLimiter({ name, limit: limitOf(spec), store });
  recordings.set(limiter, {
    started: { event: 'started', at: Date.now(), process: name, limit: spec },
    calls,
  });
  return limiter;
}

/** The history of one limiter, whose requests have all ended. */
function historyOf({ limiter, endings }: Requests): HistoryEvent[] {
  const { started, calls } = recordings.get(limiter)!;
  const asked = [...endings].sort((a, b) => a.index - b.index);
  return [
    started,
    ...asked.map(
      ({ index, receivedAt, lasted, permits }): HistoryEvent => ({
        ...{ event: 'asked', at: receivedAt - lasted, id: index, permits, timeout: null },
      }),
    ),
    ...calls,
    ...endings.map(
      ({ index, receivedAt, permit, error }): HistoryEvent =>
        permit
          ? { event: 'granted', at: receivedAt, id: index, moment: permit.grantedAt, source: permit.source }
          : { event: 'failed', at: receivedAt, id: index, error: String(error) },
    ),
    { event: 'stopped', at: Date.now() },
  ];
}

/**
 * Asserts that recorded limiters of one limit have a valid history by every rule of `test/history`, with the moments at
 * which Redis lost its data, and those of other faults.
 */
export function assertValid(
  all: readonly Requests[],
  { losses = [], faults = [] }: { losses?: readonly number[]; faults?: readonly number[] } = {},
): void {
  const fault =
    (lost: boolean) =>
    (at: number): Fault => ({ event: 'fault', at, until: at, kind: 'fault', lost });
  const disturbances = [...losses.map(fault(true)), ...faults.map(fault(false))];
  assert.equal(breachesOf(historiesOf([...all.map(historyOf), disturbances])), []);
}
