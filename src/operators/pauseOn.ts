import type { MonoTypeOperatorFunction } from 'rxjs';
import { tap } from 'rxjs/operators';
import { checkPause } from '../limiter/pause.ts';
import * as check from '../validate.ts';

/** Options of {@link pauseOn}. */
export interface PauseOnOptions {
  /**
   * The longest pause in milliseconds, whatever the selector answers: one wrong header must not stop a fleet for a year.
   *
   * @default Infinity
   */
  max?: number;
}

/** A limiter that can let the whole fleet pause: a `RateLimiter`. */
export interface PausableLimiter {
  pauseFor(ms: number): Promise<void>;
}

/**
 * Milliseconds for which the fleet has to pause after a value of the source, or after its error; 0 or nothing for not at all.
 *
 * What it gets may be anything, as an error may be.
 */
// biome-ignore lint/suspicious/noExplicitAny: a function of the source's values alone must fit, too
export type PauseSelector = (signal: any, kind: 'value' | 'error') => number | null | undefined;

/**
 * Lets the whole fleet pause when a value or an error says so: a tap for answers with `Retry-After`.
 *
 * Values and errors pass at once, as they are. The limiter holds from the same moment on in this process, and in the others
 * as they hear of it; of several pauses the one that ends last counts. A pause that Redis could not be told of does not end
 * the stream: the limiter's `events$` say so.
 *
 * @param limiter a `RateLimiter`
 * @param selector milliseconds to pause, or nothing; it is called with each value and with an error, and the kind of them
 * @param options `max`, the longest pause (ms, Infinity by default)
 * @returns an operator that emits what the source does; it errors with what the selector throws, and with TypeError or
 * RangeError where that answers no such time
 * @throws TypeError, RangeError for an argument of the wrong type or out of range
 * @example
 * urls$.pipe(
 *   throttleDistributed(limiter),
 *   mergeMap((url) => fetch(url)),
 *   pauseOn(limiter, (response) => (response.status === 429 ? 30_000 : undefined)),
 * );
 */
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: PauseSelector,
  options: PauseOnOptions = {},
): MonoTypeOperatorFunction<T> {
  check.methods('limiter', limiter, 'a RateLimiter', ['pauseFor']);
  check.functionValue('selector', selector);
  check.options('options', options);
  check.knownOptions(options, ['max']);
  const { max = Infinity } = options;
  check.duration('max', max);

  function look(signal: unknown, kind: 'value' | 'error'): void {
    const ms = selector(signal, kind) ?? 0;
    check.duration('selector', ms);
    const pause = Math.min(ms, max);
    checkPause('selector', pause);
    // Where that fails, the limiter's events tell of it.
    if (pause > 0) limiter.pauseFor(pause).catch(() => {});
  }

  return tap<T>({
    next: (value) => look(value, 'value'),
    error: (error) => look(error, 'error'),
  });
}
