import { type Clock, monotonicClock, schedulerClock } from '../clock.ts';
import type { DispatcherOptions } from '../dispatcher/dispatcher.ts';
import type { NamedLimits } from '../limits/cost.ts';
import { LimiterEvents } from '../port/events.ts';
import type { ControlledLedger } from '../stores/store.ts';
import { clientIdOf } from './clientId.ts';
import { checkOptions, namedLimits, type RateLimiterOptions } from './options.ts';
import { storeOf } from './storeOf.ts';

/** What the limiters of a group have in common, so that each of them is small. */
export interface LimiterSetting {
  readonly clock: Clock;
  readonly maxQueue: number;
  /** Whether nobody else can steer the limit. */
  readonly alone: boolean;
}

/** What a limiter is made of. */
export class LimiterParts implements DispatcherOptions {
  constructor(
    readonly name: string,
    readonly named: NamedLimits,
    readonly ledger: ControlledLedger,
    readonly setting: LimiterSetting,
    /** Where something tells of what happens before anybody can listen. */
    readonly events: LimiterEvents | undefined,
  ) {}

  get clock(): Clock {
    return this.setting.clock;
  }

  get maxQueue(): number {
    return this.setting.maxQueue;
  }

  get alone(): boolean {
    return this.setting.alone;
  }
}

/** What the options say of the setting. */
export function settingOf({
  redis,
  store,
  maxQueue = Infinity,
  scheduler,
}: Pick<RateLimiterOptions, 'redis' | 'store' | 'maxQueue' | 'scheduler'>): LimiterSetting {
  const clock = scheduler ? schedulerClock(scheduler) : monotonicClock();
  return { clock, maxQueue, alone: redis === undefined && store === undefined };
}

/** The parts of a limiter that stands by itself; `itself` is it. Refuses options that cannot be meant. */
export function partsOf(options: RateLimiterOptions, itself: object): LimiterParts {
  checkOptions(options);
  const { name, redis, prefix = 'sluice', scope, fallback } = options;
  const named = namedLimits(options.limit);
  const { names, limits } = named;
  const setting = settingOf(options);
  const clientId = options.clientId ?? clientIdOf(redis ?? itself);
  const events = fallback === undefined ? undefined : new LimiterEvents(name);
  const ledger = storeOf(options).open({
    name,
    prefix,
    scope,
    clientId,
    clock: setting.clock,
    names,
    limits,
    onServiceChange: events && ((change) => events.serviceChanged(change)),
  });
  return new LimiterParts(name, named, ledger, setting, events);
}
