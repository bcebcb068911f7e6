import * as check from '../validate.ts';

/** Options of {@link RateLimiter.acquire}. */
export interface AcquireOptions {
  /**
   * Milliseconds that the request may wait for its permits: may be fractional, 0 or Infinity.
   *
   * @default Infinity
   */
  timeout?: number | undefined;
  /** Cancels the request: it rejects with the signal's reason, and its reservation is refunded. None by default. */
  signal?: AbortSignal | undefined;
}

/** Throws for invalid options. */
export function checkAcquireOptions(options: AcquireOptions | undefined): void {
  if (options === undefined) return;
  check.options(options, ['timeout', 'signal']);
  const { timeout = Infinity, signal } = options;
  check.duration('timeout', timeout);
  check.abortSignal('signal', signal);
}
