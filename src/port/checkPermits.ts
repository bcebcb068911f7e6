import { PermitsExceedLimitError } from '../errors.ts';
import * as check from '../validate.ts';
import type { Line } from './line.ts';

/**
 * Refuses permits that no limit of the line could mean; without a line, what is neither a number nor a record.
 *
 * What is only too much for the limit is left to the calls and the streams: the limit in force may be another one by then.
 */
export function checkPermits<P>(line: Line<P> | undefined, permits: unknown): void {
  if (!line) {
    // Which names a record may have is for the lines to say, once they are there.
    if (typeof permits !== 'object' || permits === null) check.positiveInteger('permits', permits);
    return;
  }
  try {
    line.costOf(permits as P);
  } catch (error) {
    if (!(error instanceof PermitsExceedLimitError)) throw error;
  }
}
