import type { Cluster, Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import { AcquireTimeoutError, type Limit, RateLimiter } from '../../src/index.ts';
import { type FallbackOptions, fallbackOf } from '../../src/stores/fallback/fallbackOptions.ts';
import { fallbackStore } from '../../src/stores/fallback/fallbackStore.ts';
import { redisStore } from '../../src/stores/redis/redisStore.ts';
import { timedStore } from '../../src/stores/redis/timedStore.ts';
import { breachesOf } from '../history/check.ts';
import type { Fault, HistoryEvent } from '../history/events.ts';
import { eventsIn, historiesOf } from '../history/histories.ts';
import { recordedStore } from '../history/recordedLimiter.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import type { Ending, Requests } from './requests.ts';

interface Recording {
  readonly started: HistoryEvent;
  /** The calls of the store. */
  readonly calls: HistoryEvent[];
}

const recordings = new WeakMap<RateLimiter, Recording>();

interface Options {
  fallback?: FallbackOptions['mode'] | FallbackOptions;
  storeTimeout?: number;
  /** The limits of the limiter, if the history is only of the first of them. */
  limit?: Limit | Record<string, Limit>;
}

/** A limiter whose calls to Redis are recorded for `assertValid`. */
export function recordedLimiter(
  name: string,
  spec: LimitSpec,
  redis: Redis | Cluster,
  { fallback, storeTimeout = 30_000, limit = limitOf(spec) }: Options = {},
): RateLimiter {
  const calls: HistoryEvent[] = [];
  const history = {
    write: (event: object) => calls.push({ at: Date.now(), ...event } as HistoryEvent),
    flush() {},
  };
  const remote = recordedStore(redisStore(redis), history);
  const store = fallback
    ? fallbackStore(remote, redis, fallbackOf(fallback))
    : timedStore(remote, redis, storeTimeout);
  const limiter = new RateLimiter({ name, limit, store });
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
      ({ index, receivedAt, lasted, permits, timeout }): HistoryEvent => ({
        ...{ event: 'asked', at: receivedAt - lasted, id: index, permits, timeout },
      }),
    ),
    ...calls,
    ...endings.flatMap(endOf),
    { event: 'stopped', at: Date.now() },
  ];
}

function endOf({ index: id, receivedAt: at, permit, error, cancelled, returned }: Ending): HistoryEvent[] {
  if (permit) {
    const { grantedAt: moment, source } = permit;
    return [
      { event: 'granted', at, id, moment, source },
      { event: 'returned', at, id, permits: returned },
    ];
  }
  if (cancelled) return [{ event: 'cancelled', at, id }];
  if (error instanceof AcquireTimeoutError) return [{ event: 'refused', at, id }];
  return [{ event: 'failed', at, id, error: String(error) }];
}

/** The disturbances of a fleet: times of the server, in milliseconds. */
export interface Disturbances {
  /** When Redis lost data; `'sometime'` for unknown times. */
  losses?: readonly number[] | 'sometime';
  /** Other faults: their time, or their start and end. */
  faults?: readonly (number | readonly [at: number, until: number])[];
  /** A folder with histories of further processes. */
  folder?: string;
}

/**
 * Asserts that the limiters of one limit have a valid history by every rule of `test/history`: those that `recordedLimiter` has
 * made, and further processes.
 */
export function assertValid(
  all: readonly Requests[],
  { losses = [], faults = [], folder }: Disturbances = {},
): void {
  const fault = (at: number, until: number, lost: Fault['lost']): Fault => ({
    ...{ event: 'fault', at, until, kind: 'fault', lost },
  });
  const disturbances = [
    ...(losses === 'sometime' ? [fault(0, Infinity, losses)] : losses.map((at) => fault(at, at, true))),
    ...faults.map((one) => (typeof one === 'number' ? fault(one, one, false) : fault(...one, false))),
  ];
  const recorded = all.filter(({ limiter }) => recordings.has(limiter)).map(historyOf);
  const others = folder === undefined ? [] : eventsIn(folder);
  const histories = historiesOf([...recorded, ...others, disturbances]);
  for (const { process, calls } of histories.processes) assert.ok(calls.length > 0, `calls of ${process}`);
  assert.equal(breachesOf(histories), []);
}
