/** The codes of this package's errors. They are stable. */
export type SluiceErrorCode =
  | 'ERR_SLUICE_TIMEOUT'
  | 'ERR_SLUICE_LIMIT'
  | 'ERR_SLUICE_PERMITS'
  | 'ERR_SLUICE_QUEUE'
  | 'ERR_SLUICE_UNAVAILABLE'
  | 'ERR_SLUICE_STORE'
  | 'ERR_SLUICE_NOT_INITIALIZED'
  | 'ERR_SLUICE_CLOSED';

/**
 * The base class of all errors of this package.
 *
 * @example
 * await limiter.acquire(1, { timeout: 1_000 }).catch((error) => {
 *   if (error instanceof SluiceError) console.log(error.code); // ERR_SLUICE_TIMEOUT
 * });
 */
export abstract class SluiceError extends Error {
  /** The name of the class, unchanged by minification. */
  abstract override readonly name: string;
  /** The stable code of the error, such as `ERR_SLUICE_TIMEOUT`. */
  abstract readonly code: SluiceErrorCode;
}

/** The permits of a request: a number, or a record for a limiter of several limits. */
export type AskedPermits = number | Readonly<Record<string, number>>;

function describe(permits: AskedPermits): string {
  if (typeof permits === 'number') return permits === 1 ? '1 permit' : `${permits} permits`;
  return `permits ${JSON.stringify(permits)}`;
}

function are(permits: AskedPermits): string {
  return `${describe(permits)} ${permits === 1 ? 'is' : 'are'}`;
}

function milliseconds(ms: number): string {
  return `${Math.ceil(ms)} ms`;
}

/** A request's wait would be, or was, longer than its `timeout`. It was not charged. */
export class AcquireTimeoutError extends SluiceError {
  override readonly name = 'AcquireTimeoutError';
  readonly code = 'ERR_SLUICE_TIMEOUT';
  /** The permits of the request. */
  readonly permits: AskedPermits;
  /** The request's timeout in milliseconds. */
  readonly timeout: number;
  /** The least number of milliseconds until the permits are available, if known. */
  readonly retryAfter: number | undefined;

  /** With `isUnanswered`, the message names the store instead of the limit. */
  constructor(
    limiter: string,
    permits: AskedPermits,
    timeout: number,
    retryAfter?: number,
    isUnanswered = false,
  ) {
    const earliest = retryAfter === undefined ? '' : `, but in ${milliseconds(retryAfter)} at the earliest`;
    const reason = isUnanswered
      ? ', as the store has not replied; check its connection, or use a longer timeout'
      : `${earliest}; use a longer timeout or fewer permits, or raise the limit`;
    super(`limiter ${JSON.stringify(limiter)}: ${are(permits)} not available within ${timeout} ms${reason}`);
    this.permits = permits;
    this.timeout = timeout;
    this.retryAfter = retryAfter;
  }
}

/** With the strategy `'error'`: the permits are not available within `timeout`, 0 by default. The request was not charged. */
export class RateLimitExceededError extends SluiceError {
  override readonly name = 'RateLimitExceededError';
  readonly code = 'ERR_SLUICE_LIMIT';
  /** The permits of the request. */
  readonly permits: AskedPermits;
  /** Milliseconds until the permits are available, if known. */
  readonly retryAfter: number | undefined;

  constructor(limiter: string, permits: AskedPermits, retryAfter?: number, timeout = 0) {
    const within = timeout > 0 ? `within ${timeout} ms` : 'now';
    const when = retryAfter === undefined ? 'later' : `in ${milliseconds(retryAfter)}`;
    super(`limiter ${JSON.stringify(limiter)}: ${are(permits)} not available ${within}; try again ${when}`);
    this.permits = permits;
    this.retryAfter = retryAfter;
  }
}

/** A request has more permits than the limit in force can ever grant. It was not charged. */
export class PermitsExceedLimitError extends SluiceError {
  override readonly name = 'PermitsExceedLimitError';
  readonly code = 'ERR_SLUICE_PERMITS';
  /** The permits of the request; with several limits, a record of all of them, whatever its form was. */
  readonly permits: AskedPermits;
  /** The most permits that one request may have, if known. */
  readonly limit: AskedPermits | undefined;

  constructor(limiter: string, permits: AskedPermits, limit?: AskedPermits) {
    const most = limit === undefined ? '' : ` (at most ${describe(limit)} at a time)`;
    super(
      `limiter ${JSON.stringify(limiter)}: ${are(permits)} more than the limit can ever grant${most}; ` +
        'use fewer permits, or raise the limit',
    );
    this.permits = permits;
    this.limit = limit;
  }
}

/** The queue is full: `maxQueue` requests or values are waiting. The new one was not charged. */
export class QueueOverflowError extends SluiceError {
  override readonly name = 'QueueOverflowError';
  readonly code = 'ERR_SLUICE_QUEUE';
  /** The most requests or values that may wait. */
  readonly maxQueue: number;

  constructor(limiter: string, maxQueue: number) {
    super(
      `limiter ${JSON.stringify(limiter)}: the queue is full, as maxQueue is ${maxQueue}; ` +
        'slow the source down, or raise maxQueue',
    );
    this.maxQueue = maxQueue;
  }
}

/**
 * Redis cannot be reached, has not replied in time, or refuses calls for now: it is loading, a replica, or busy. `cause` is the
 * reason, such as the error of the connection.
 */
export class StoreUnavailableError extends SluiceError {
  override readonly name = 'StoreUnavailableError';
  readonly code = 'ERR_SLUICE_UNAVAILABLE';

  /** The message suggests a fallback unless there is one. */
  constructor(limiter: string, cause: unknown, hasFallback = false) {
    const isReply = cause instanceof Error && cause.name === 'ReplyError';
    const [state, checked] = isReply
      ? ['refuses calls for now', 'server']
      : ['cannot be reached', 'connection'];
    super(
      `limiter ${JSON.stringify(limiter)}: Redis ${state}: ${withoutScript(messageOf(cause))}; check the ${checked}` +
        (hasFallback ? '' : ', or use a fallback'),
      { cause },
    );
  }
}

/**
 * Redis answered with an error: a key of the wrong type, a missing permission, a script error, a malformed reply, or a
 * stored rate whose limits have other names than this limiter's. `cause` is that error. No fallback hides it.
 */
export class StoreError extends SluiceError {
  override readonly name = 'StoreError';
  readonly code = 'ERR_SLUICE_STORE';

  constructor(limiter: string, cause: unknown) {
    super(
      `limiter ${JSON.stringify(limiter)}: the store refused the call: ${withoutScript(messageOf(cause))}${hint(cause)}`,
      { cause },
    );
  }
}

/** Leaves out what Redis adds to an error of a script, its hash and a line, and a full stop: text of the limiter may follow. */
function withoutScript(message: string): string {
  return message.replace(/\.?( script: \w+, on @user_script:\d+\.)?$/, '');
}

/** Says how to find a permission that the Redis user lacks: the error of a script may not name the denied command. */
function hint(cause: unknown): string {
  if (!/NOPERM|ACL failure|can't (run|access)/.test(messageOf(cause))) return '';
  return '; ACL LOG names the missing permission; docs/security.md lists all that are needed';
}

/** This Redisson limiter has no rate: none was ever set, or it has expired. The request was not charged. */
export class NotInitializedError extends SluiceError {
  override readonly name = 'NotInitializedError';
  readonly code = 'ERR_SLUICE_NOT_INITIALIZED';

  constructor(limiter: string) {
    super(`limiter ${JSON.stringify(limiter)} has no rate; call trySetRate or setRate first`);
  }
}

/** The limiter is closed. The request was not charged. */
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
