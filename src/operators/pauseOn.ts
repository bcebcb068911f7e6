import { type MonoTypeOperatorFunction, tap } from 'rxjs';
import type { NotInferred } from '../port/notInferred.ts';
import * as check from '../validate.ts';

/** Options of {@link pauseOn}. */
export interface PauseOnOptions {
  /**
   * The longest pause in milliseconds. Longer ones are shortened to it: a wrong header should not stop a fleet for a year.
   *
   * @default Infinity
   */
  max?: number | undefined;
}

/** A limiter that can pause the whole fleet: a `RateLimiter`. */
export interface PausableLimiter {
  /** Grants nothing in the whole fleet before `ms` milliseconds from now. */
  pauseFor(ms: number): Promise<void>;
}

/**
 * Returns how many milliseconds to pause after a value or an error of the source; 0 or nothing for no pause.
 *
 * `kind` tells a value from an error, also to TypeScript.
 */
export type PauseSelector<T = unknown> = (
  // biome-ignore lint/suspicious/noExplicitAny: RxJS, too, types errors as any
  ...signal: [value: T, kind: 'value'] | [error: any, kind: 'error']
) => number | null | undefined;

/**
 * Mirrors the source, and pauses the whole fleet when a value or an error asks for it, such as a response with `Retry-After`.
 *
 * Values and errors pass unchanged and at once. The pause takes effect immediately in this process, and in other processes
 * with waiting requests within two seconds. Of several pauses, the one that ends last counts. A pause that could not be sent
 * to Redis does not end the stream; the limiter's `events$` report it.
 *
 * @param limiter a `RateLimiter`
 * @param selector returns milliseconds to pause, or nothing; it is called with each value or error, and `'value'` or `'error'`
 * @param options `max`, the longest pause (ms, Infinity by default)
 * @returns an operator that mirrors the source; it also errors with the errors of `selector`, and with TypeError or RangeError
 * for an invalid number of milliseconds; after an error of the source, their `cause` is that error unless they have one
 * @throws TypeError, RangeError for an invalid argument
 * @example
 * urls$.pipe(
 *   throttleDistributed(limiter),
 *   mergeMap((url) => fetch(url)),
 *   pauseOn(limiter, (response) => (response.status === 429 ? 30_000 : undefined)),
 * );
 */
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: PauseSelector<NotInferred<T>>,
  options?: PauseOnOptions,
): MonoTypeOperatorFunction<T>;
/** The selector may have one argument, which is `any` unless it declares a type: it is a value or an error. */
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: (value: NotInferred<T>) => number | null | undefined,
  options?: PauseOnOptions,
): MonoTypeOperatorFunction<T>;
/** The type of the values may also be that of the selector's argument. */
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: (value: T) => number | null | undefined,
  options?: PauseOnOptions,
): MonoTypeOperatorFunction<T>;
export function pauseOn<T>(
  limiter: PausableLimiter,
  selector: ((value: T) => number | null | undefined) | PauseSelector<T>,
  options: PauseOnOptions = {},
): MonoTypeOperatorFunction<T> {
  check.methods('limiter', limiter, 'a RateLimiter or group.get()', ['pauseFor']);
  check.functionValue('selector', selector);
  check.options(options, ['max']);
  const { max = Infinity } = options;
  check.duration('max', max);

  const pauseAfter = (kind: 'value' | 'error') => (signal: T) => {
    try {
      const ms = (selector as (signal: T, kind: string) => number | null | undefined)(signal, kind) ?? 0;
      check.duration('selector', ms);
      const length = Math.min(ms, max);
      check.pauseLength('selector', length);
      // The limiter's events report a failure.
      if (length > 0) limiter.pauseFor(length).catch(() => {});
    } catch (thrown) {
      // An error that the selector throws again is not its own cause.
      if (kind === 'error' && thrown instanceof Error && thrown !== signal) thrown.cause ??= signal;
      throw thrown;
    }
  };

  return tap<T>({ next: pauseAfter('value'), error: pauseAfter('error') });
}
