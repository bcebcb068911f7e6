import { type Clock, monotonicClock, schedulerClock } from '../clock.ts';
import type { DispatcherOptions } from '../dispatcher/parts.ts';
import type { NamedLimits } from '../limits/cost.ts';
import { LimiterEvents } from '../port/events.ts';
import { fallbackOf } from '../stores/fallback/fallbackOptions.ts';
import { fallbackStore } from '../stores/fallback/fallbackStore.ts';
import { ownStore } from '../stores/memory/memoryStore.ts';
import { redisStore } from '../stores/redis/redisStore.ts';
import { timedStore } from '../stores/redis/timedStore.ts';
import type { ControlledLedger, LedgerConfig, Store } from '../stores/store.ts';
import { clientIdOf } from './clientId.ts';
import { checkOptions, defaultStoreTimeout, namedLimits, type RateLimiterOptions } from './options.ts';

/** The parts that all limiters of a group share; one object for all of them keeps each limiter small. */
export interface SharedParts {
  readonly store: Store;
  /** The configuration of a ledger, without the properties that differ between limiters. */
  readonly config: Omit<LedgerConfig, 'key' | 'names' | 'limits' | 'onServiceChange'>;
  readonly clock: Clock;
  readonly maxQueue: number;
  /** Whether a fallback may serve in place of the store. */
  readonly hasFallback: boolean;
  /** Whether no other limiter can change the limit. */
  readonly alone: boolean;
}

/** The parts of one limiter. */
interface LimiterParts extends DispatcherOptions {
  readonly ledger: ControlledLedger;
}

/** The shared parts of a limiter or group with these options. Without Redis, `owner` identifies the client. */
export function sharedParts(
  options: Omit<RateLimiterOptions, 'limit'>,
  owner: object,
  isGroup: boolean,
): SharedParts {
  const { name, redis, store, fallback, prefix = 'sluice', scope, scheduler, maxQueue = Infinity } = options;
  const { clientId = clientIdOf(redis ?? owner) } = options;
  const clock = scheduler ? schedulerClock(scheduler) : monotonicClock();
  return {
    store: storeOf(options),
    config: { name, prefix, scope, clientId, clock },
    clock,
    maxQueue,
    hasFallback: fallback !== undefined,
    alone: !isGroup && redis === undefined && store === undefined,
  };
}

/** Opens the ledger of a limiter; with a key, of a limiter of a group. */
export function openLedger(
  { store, config }: SharedParts,
  { names, limits }: NamedLimits,
  events: LimiterEvents | undefined,
  key?: string,
): ControlledLedger {
  const onServiceChange =
    events && ((change: Parameters<LimiterEvents['serviceChanged']>[0]) => events.serviceChanged(change));
  const { name, prefix, scope, clientId, clock } = config;
  // Without a spread, which took a quarter of the time of a new key of a group.
  return store.open({ name, key, prefix, scope, clientId, names, limits, clock, onServiceChange });
}

/** The parts of a limiter outside a group; `owner` is the limiter. Throws for invalid options. */
export function partsOf(options: RateLimiterOptions, owner: object): LimiterParts {
  checkOptions(options);
  const { name } = options;
  const named = namedLimits(options.limit);
  const shared = sharedParts(options, owner, false);
  const { clock, maxQueue, alone } = shared;
  const events = shared.hasFallback ? new LimiterEvents(name) : undefined;
  const { prefix, clientId } = shared.config;
  const client = alone ? undefined : JSON.stringify([prefix, name, clientId]);
  return { name, named, ledger: openLedger(shared, named, events), clock, maxQueue, client, alone, events };
}

/** The store of a limiter or group with these options. */
function storeOf({
  redis,
  store,
  fallback,
  storeTimeout = defaultStoreTimeout,
}: Pick<RateLimiterOptions, 'redis' | 'store' | 'fallback' | 'storeTimeout'>): Store {
  if (!redis) return store ?? ownStore();
  const remote = redisStore(redis);
  if (fallback === undefined) return timedStore(remote, redis, storeTimeout);
  return fallbackStore(remote, redis, fallbackOf(fallback));
}
