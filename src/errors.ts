/** What all errors of this package have in common. */
export abstract class SluiceError extends Error {
  /** The name of the class, also where a bundler has shortened that. */
  abstract override readonly name: string;
  /** A stable identifier of the kind of error. */
  abstract readonly code: string;
}

/** Permits as they were asked for: a number, or a record for a limiter of several limits. */
export type AskedPermits = number | Readonly<Record<string, number>>;

function describe(permits: AskedPermits): string {
  if (typeof permits === 'number') return permits === 1 ? '1 permit' : `${permits} permits`;
  return `permits ${JSON.stringify(permits)}`;
}

function milliseconds(ms: number): string {
  return `${Math.ceil(ms)} ms`;
}

/** The wait for permits would be, or was, longer than `timeout`. Nothing was charged. */
export class AcquireTimeoutError extends SluiceError {
  override readonly name = 'AcquireTimeoutError';
  readonly code = 'ERR_SLUICE_TIMEOUT';
  /** The permits that were asked for. */
  readonly permits: AskedPermits;
  /** Milliseconds that the caller was ready to wait. */
  readonly timeout: number;
  /** Milliseconds from now that the permits will not be there yet, where that is known. */
  readonly retryAfter: number | undefined;

  constructor(limiter: string, permits: AskedPermits, timeout: number, retryAfter?: number) {
    const known =
      retryAfter === undefined
        ? 'they were not there in time'
        : `not there for another ${milliseconds(retryAfter)} at least`;
    super(
      `limiter ${JSON.stringify(limiter)}: ${describe(permits)} within ${timeout} ms: ${known}; ` +
        'wait longer, ask for fewer, or raise the limit',
    );
    this.permits = permits;
    this.timeout = timeout;
    this.retryAfter = retryAfter;
  }
}

/** The permits are not there now, and the strategy is `'error'`. Nothing was charged. */
export class RateLimitExceededError extends SluiceError {
  override readonly name = 'RateLimitExceededError';
  readonly code = 'ERR_SLUICE_LIMIT';
  /** The permits that were asked for. */
  readonly permits: AskedPermits;
  /** Milliseconds until they will be there, where that is known. */
  readonly retryAfter: number | undefined;

  constructor(limiter: string, permits: AskedPermits, retryAfter?: number) {
    const known = retryAfter === undefined ? 'later' : `in ${milliseconds(retryAfter)}`;
    super(`limiter ${JSON.stringify(limiter)}: ${describe(permits)}: not there now; try again ${known}`);
    this.permits = permits;
    this.retryAfter = retryAfter;
  }
}

/** More was asked for than the limit in force can ever grant. Nothing was charged. */
export class PermitsExceedLimitError extends SluiceError {
  override readonly name = 'PermitsExceedLimitError';
  readonly code = 'ERR_SLUICE_PERMITS';
  /** The permits that were asked for. */
  readonly permits: AskedPermits;
  /** The most that one request may ask for, where that is known. */
  readonly limit: AskedPermits | undefined;

  constructor(limiter: string, permits: AskedPermits, limit?: AskedPermits) {
    const most = limit === undefined ? '' : ` (at most ${describe(limit)} at a time)`;
    super(
      `limiter ${JSON.stringify(limiter)}: asked for ${describe(permits)}, more than the limit can ever grant${most}; ` +
        'ask for fewer, or raise the limit',
    );
    this.permits = permits;
    this.limit = limit;
  }
}

/** The queue is full: `maxQueue` requests already wait. Nothing was charged. */
export class QueueOverflowError extends SluiceError {
  override readonly name = 'QueueOverflowError';
  readonly code = 'ERR_SLUICE_QUEUE';
  /** The most that may wait. */
  readonly maxQueue: number;

  constructor(limiter: string, maxQueue: number) {
    super(
      `limiter ${JSON.stringify(limiter)}: ${maxQueue} already wait, and maxQueue allows no more; ` +
        'slow the source down, or raise maxQueue',
    );
    this.maxQueue = maxQueue;
  }
}

/** Redis cannot be reached. `cause` is the client's own error. */
export class StoreUnavailableError extends SluiceError {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'ERR_SLUICE_UNAVAILABLE';

  constructor(limiter: string, cause: unknown) {
    super(`limiter ${JSON.stringify(limiter)}: Redis cannot be reached: ${messageOf(cause)}`, { cause });
  }
}

/**
 * The store answered, but wrongly: a key that holds something else than it should, a missing permission, a script error, or
 * a stored rate that has other names of limits than this limiter. `cause` is its own error. No fallback hides it.
 */
export class StoreError extends SluiceError {
  override readonly name = 'StoreError';
  readonly code = 'ERR_SLUICE_STORE';

  constructor(limiter: string, cause: unknown) {
    super(`limiter ${JSON.stringify(limiter)}: the store refused the call: ${messageOf(cause)}`, { cause });
  }
}

/** No rate was ever set for this limiter of Redisson, or it has expired. Nothing was charged. */
export class NotInitializedError extends SluiceError {
  override readonly name = 'NotInitializedError';
  readonly code = 'ERR_SLUICE_NOT_INITIALIZED';

  constructor(limiter: string) {
    super(`limiter ${JSON.stringify(limiter)} has no rate; call trySetRate or setRate first`);
  }
}

/** The limiter was closed. */
export class LimiterClosedError extends SluiceError {
  override readonly name = 'LimiterClosedError';
  readonly code = 'ERR_SLUICE_CLOSED';

  constructor(limiter: string) {
    super(`limiter ${JSON.stringify(limiter)} is closed; make a new one`);
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
