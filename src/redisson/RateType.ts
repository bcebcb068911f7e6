/**
 * Who shares the permits of a {@link RedissonRateLimiter}: all clients together (`OVERALL`), or each has them for itself
 * (`PER_CLIENT`). The numbers are those that Redisson stores.
 */
export const RateType = /* @__PURE__ */ Object.freeze({ OVERALL: 0, PER_CLIENT: 1 } as const);

/** One of the values of {@link RateType}. */
export type RateType = (typeof RateType)[keyof typeof RateType];
