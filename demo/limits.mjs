/** What the API allows. */
export const apiLimit = { permits: 20, interval: 1_000 };

/**
 * What the limiter grants: as many, in a little more time.
 *
 * The limiter knows when it grants a call, the API when the call arrives. When the calls of one window travel for long
 * and those of the next for short, they arrive closer together than they were granted: on a busy machine by some
 * hundred milliseconds. A limit of somebody else's needs that much room, whoever keeps it.
 */
export const limit = { permits: apiLimit.permits, interval: apiLimit.interval + 300 };
