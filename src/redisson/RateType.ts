/**
 * The type of a {@link RedissonRateLimiter}: all clients share the rate (`OVERALL`), or each client has the whole rate
 * (`PER_CLIENT`). Redisson stores the same numbers.
 */
export const RateType = /* @__PURE__ */ Object.freeze({ OVERALL: 0, PER_CLIENT: 1 } as const);

/** One of the values of {@link RateType}. */
export type RateType = (typeof RateType)[keyof typeof RateType];
