export { type NodeRedisClient, nodeRedis } from './clients/nodeRedis.ts';
export { type ValkeyGlideClient, valkeyGlide } from './clients/valkeyGlide.ts';
export type { SchedulerClock } from './clock.ts';
export {
  type FromThrottledByKeyOptions,
  type FromThrottledOptions,
  fromThrottled,
} from './creation/fromThrottled.ts';
export type { PulledInput } from './creation/input.ts';
export { permits$ } from './creation/permits.ts';
export {
  AcquireTimeoutError,
  type AskedPermits,
  LimiterClosedError,
  NotInitializedError,
  PermitsExceedLimitError,
  QueueOverflowError,
  RateLimitExceededError,
  SluiceError,
  type SluiceErrorCode,
  StoreError,
  StoreUnavailableError,
} from './errors.ts';
export type { AcquireOptions } from './limiter/acquireOptions.ts';
export {
  type LimitedByKeyOptions,
  type LimitedDecorator,
  limited,
} from './limiter/limited.ts';
export type { RateLimiterOptions } from './limiter/options.ts';
export { RateLimiter, type SetRateOptions } from './limiter/RateLimiter.ts';
export { RateLimiterGroup, type RateLimiterGroupOptions } from './limiter/RateLimiterGroup.ts';
export type { Decision, LimiterStats, LimitInForce } from './limiter/results.ts';
export type { WrapOptions } from './limiter/wrap.ts';
export type { Permits } from './limits/cost.ts';
export {
  type FixedWindow,
  type FixedWindowOptions,
  fixedWindow,
  type Limit,
  leakyBucket,
  type RateOptions,
  type SlidingWindow,
  type SlidingWindowOptions,
  slidingWindow,
  type TokenBucket,
  type TokenBucketOptions,
  tokenBucket,
} from './limits/limit.ts';
export { acquirePermits } from './operators/acquirePermits.ts';
export {
  type PausableLimiter,
  type PauseOnOptions,
  type PauseSelector,
  pauseOn,
} from './operators/pauseOn.ts';
export { throttleDistributed } from './operators/throttleDistributed.ts';
export type {
  CancelledEvent,
  DeniedEvent,
  DroppedEvent,
  ErrorEvent,
  FallbackEvent,
  GrantedEvent,
  LimiterEvent,
  PausedEvent,
  QueuedEvent,
  RateEvent,
  RecoveredEvent,
  RefundedEvent,
  TimeoutEvent,
} from './port/events.ts';
export type { DropReason, Limiter, LimiterGroup } from './port/line.ts';
export type { Permit } from './port/permit.ts';
export type {
  RedissonConfig,
  RedissonRateLimiterOptions,
  RedissonRateOptions,
  RedissonSetRateOptions,
} from './redisson/options.ts';
export { RateType } from './redisson/RateType.ts';
export { RedissonRateLimiter } from './redisson/RedissonRateLimiter.ts';
export type { FallbackOptions } from './stores/fallback/fallbackOptions.ts';
export { memoryStore } from './stores/memory/memoryStore.ts';
export type { RedisClient } from './stores/redis/redisClient.ts';
export type { PermitSource, Store } from './stores/store.ts';
export type {
  ThrottleDistributedByKeyOptions,
  ThrottleDistributedOptions,
} from './throttle/throttleOptions.ts';
