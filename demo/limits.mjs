/** The limit of the API. */
export const apiLimit = { permits: 20, interval: 1_000 };

/** The limit of the limiter: as many permits in a slightly longer interval. */
export const limit = { permits: apiLimit.permits, interval: apiLimit.interval + 100 };

/** Why the two intervals differ. */
export const reason = `Why ${limit.interval} ms: the limiter counts a call when it is granted, the API when it arrives. If the calls of one second
travel for longer than those of the next, more than ${apiLimit.permits} arrive within ${apiLimit.interval} ms. The margin is for that.`;
