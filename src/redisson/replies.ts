import { NotInitializedError, SluiceError } from '../errors.ts';
import { errorOf } from '../stores/redis/errors.ts';
import { malformed } from '../stores/redis/replies.ts';

/** The numbers of a reply, at least `least`. An empty reply says that the limiter has no rate. */
export function numbersOf(limiter: string, answer: unknown, least: number): number[] {
  if (!Array.isArray(answer) || !answer.every((item) => /^-?\d+$/.test(String(item))))
    throw malformed(answer);
  if (answer.length === 0) throw new NotInitializedError(limiter);
  if (answer.length < least) throw malformed(answer);
  return answer.map(Number);
}

/** The error of a failed call: an error of this package as it is, or one with the error of Redis as its cause. */
export function failureOf(limiter: string, error: unknown): Error {
  return error instanceof SluiceError ? error : errorOf(limiter, error);
}
