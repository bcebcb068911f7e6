import { StoreError, StoreUnavailableError } from '../../errors.ts';

/** Answers of a server that will serve again by itself: it starts, fails over, or has lost its cluster for now. */
const passing = /^(LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|NOREPLICAS|BUSY)\b/;

/**
 * What a failed call means for its callers: Redis answered wrongly, or it could not be reached.
 *
 * A reply that is an error says `ReplyError`; all else that ioredis rejects with (a closed connection, too many
 * retries, a time-out) says that nobody answered.
 */
export function errorOf(limiter: string, error: unknown): Error {
  const { name, message } = error as Error;
  const answered = name === 'ReplyError' || error instanceof TypeError;
  if (answered && !passing.test(message)) return new StoreError(limiter, error);
  return new StoreUnavailableError(limiter, error);
}

/**
 * Whether a call was not run because its slot is on its way from one node of a cluster to another. ioredis follows it 16 times,
 * and then names the last reply in an error of its own.
 */
export function isMoving(error: Error): boolean {
  if (!(error instanceof StoreUnavailableError)) return false;
  return /\b(TRYAGAIN|ASK|MOVED)\b/.test(String((error.cause as Error)?.message));
}
