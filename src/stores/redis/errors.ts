import { StoreError, StoreUnavailableError } from '../../errors.ts';

/** Error replies of a server that recovers by itself: it is loading, failing over, or has lost its cluster for now. */
const passing = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|NOREPLICAS|BUSY)\b/;

/**
 * The error of a failed call: a StoreError if Redis has replied with an error or with malformed data, or else a
 * StoreUnavailableError.
 *
 * An error reply is a `ReplyError`, and malformed data are a TypeError. All other errors of ioredis (a closed connection, too
 * many retries, a timeout) mean that there was no reply.
 */
export function errorOf(limiter: string, error: unknown, hasFallback?: boolean): Error {
  return isRefusal(error)
    ? new StoreError(limiter, error)
    : new StoreUnavailableError(limiter, error, hasFallback);
}

/** Whether the error of a failed call is a StoreError. */
export function isRefusal(error: unknown): boolean {
  const { name, message } = error as Error;
  const answered = name === 'ReplyError' || error instanceof TypeError;
  return answered && !passing.test(message);
}

/**
 * Whether a call was not run because its slot is on its way from one node of a cluster to another. ioredis follows it 16 times,
 * and then names the last reply in an error of its own: perhaps that the next node does not know the script yet.
 */
export function isMoving(error: Error): boolean {
  if (!(error instanceof StoreUnavailableError)) return false;
  return /\b(TRYAGAIN|ASK|MOVED|NOSCRIPT)\b/.test(String((error.cause as Error)?.message));
}

/** Whether a call was not run because the server has forgotten its script, or because a replica has received it. */
export function isRefusedBy(code: 'NOSCRIPT' | 'READONLY', error: unknown): error is Error {
  return error instanceof Error && error.message.startsWith(code);
}
