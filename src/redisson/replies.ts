import { NotInitializedError, SluiceError } from '../errors.ts';
import { errorOf } from '../stores/redis/errors.ts';
import { answerOf, malformed, numbersIn } from '../stores/redis/replies.ts';

/** The numbers that a script has answered; it answers none where the limiter has no rate. */
export function numbersOf(
  limiter: string,
  answer: unknown,
  isRight: (numbers: readonly number[]) => boolean,
): number[] {
  if (!Array.isArray(answer)) throw malformed(answer);
  if (answer.length === 0) throw new NotInitializedError(limiter);
  const numbers = numbersIn(answer);
  if (!isRight(numbers)) throw malformed(answer);
  return numbers;
}

/** Whether a script has done what it was asked: 1 or 0. */
export function isDone(answer: unknown): boolean {
  const done = answerOf(answer);
  if (done !== 0 && done !== 1) throw malformed(answer);
  return done === 1;
}

/** What a failed call means for its callers: an error of ours as it is, or one that says what Redis has done. */
export function failureOf(limiter: string, error: unknown): Error {
  return error instanceof SluiceError ? error : errorOf(limiter, error);
}
