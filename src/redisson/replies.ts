import { NotInitializedError, SluiceError } from '../errors.ts';
import { errorOf } from '../stores/redis/errors.ts';
import { malformed } from '../stores/redis/replies.ts';

/** The numbers that a script has answered, at least so many; it answers none where the limiter has no rate. */
export function numbersOf(limiter: string, answer: unknown, least: number): number[] {
  if (!Array.isArray(answer) || !answer.every((item) => /^-?\d+$/.test(String(item))))
    throw malformed(answer);
  if (answer.length === 0) throw new NotInitializedError(limiter);
  if (answer.length < least) throw malformed(answer);
  return answer.map(Number);
}

/** What a failed call means for its callers: an error of ours as it is, or one that says what Redis has done. */
export function failureOf(limiter: string, error: unknown): Error {
  return error instanceof SluiceError ? error : errorOf(limiter, error);
}
