import type { MonoTypeOperatorFunction } from 'rxjs';
import { tap } from 'rxjs/operators';
import { checkPause } from '../port/checkPause.ts';
import * as check from '../validate.ts';

/** Options of {@link pauseOn}. */
export interface PauseOnOptions {
  /**
   * The longest pause in milliseconds, whatever the selector answers: one wrong header must not stop a fleet for a year.
   *
   * @default Infinity
   */
  max?: number | undefined;
}

/** A limiter that can let the whole fleet pause: a `RateLimiter`. */
export interface PausableLimiter {
  pauseFor(ms: number): Promise<void>;
}

/**
 * Milliseconds for which the fleet has to pause after a value of the source, or after its error; 0 or nothing for not at all.
 *
 * `kind` says which of the two it is, and so of what type.
 */
export type PauseSelector<T = unknown> = (
  // biome-ignore lint/suspicious/noExplicitAny: an error may be anything, as RxJS gives it to whoever handles it
  ...signal: [value: T, kind: 'value'] | [error: any, kind: 'error']
) => number | null | undefined;

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
  selector: PauseSelector<NoInfer<T>>,
  options?: PauseOnOptions,
): MonoTypeOperatorFunction<T>;
/** A function of the values alone fits, too, where it can bear an error. */
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: (value: T) => number | null | undefined,
  options?: PauseOnOptions,
): MonoTypeOperatorFunction<T>;
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: PauseSelector<T> | ((value: T) => number | null | undefined),
  options: PauseOnOptions = {},
): MonoTypeOperatorFunction<T> {
  check.methods('limiter', limiter, 'a RateLimiter', ['pauseFor']);
  check.functionValue('selector', selector);
  check.options('options', options);
  check.knownOptions(options, ['max']);
  const { max = Infinity } = options;
  check.duration('max', max);

  function look(...signal: Parameters<PauseSelector<T>>): void {
    const ms = (selector as PauseSelector<T>)(...signal) ?? 0;
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
