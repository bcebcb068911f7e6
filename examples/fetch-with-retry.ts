import { defer, fromEvent, lastValueFrom, mergeMap, NEVER, of, race, retry, timer } from 'rxjs';
import { acquirePermits, pauseOn, type RateLimiter } from 'rxjs-sluice';

/** A response that asks for another attempt: 429 or 503. */
export class RetryableError extends Error {
  override readonly name = 'RetryableError';
  readonly status: number;
  /** Milliseconds until the time of its Retry-After; undefined without one. */
  readonly retryAfter: number | undefined;

  constructor({ url, status, headers }: Response) {
    super(`${url} has responded with ${status}`);
    this.status = status;
    this.retryAfter = millisecondsUntil(headers.get('Retry-After'));
  }
}

/** The time of a Retry-After is a number of seconds, or a date. */
function millisecondsUntil(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * Returns a `fetch` that acquires a permit for each attempt, and repeats calls with the response 429 or 503. Their Retry-After
 * pauses all processes that share the limit.
 */
export function fetchWith(limiter: RateLimiter, { retries = 4, backoff = 250, maxPause = 60_000 } = {}) {
  return (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const aborted = init.signal ? fromEvent(init.signal, 'abort') : NEVER;
    return lastValueFrom(
      defer(() => fetch(url, init)).pipe(
        mergeMap(async (response) => {
          if (response.status !== 429 && response.status !== 503) return response;
          await response.body?.cancel(); // so that its connection can be used again
          throw new RetryableError(response);
        }),
        acquirePermits(limiter, 1, { signal: init.signal ?? undefined }),
        pauseOn(limiter, (error, kind) => (kind === 'error' ? error.retryAfter : undefined), {
          max: maxPause,
        }),
        retry({
          count: retries,
          delay: (error, attempt) => {
            if (!(error instanceof RetryableError)) throw error;
            // After a Retry-After, the permit of the next attempt comes at the end of the pause.
            if (error.retryAfter !== undefined) return of(0);
            // An aborted call does not wait any longer: its next attempt rejects before it acquires a permit.
            return race(timer(backoff * 2 ** (attempt - 1)), aborted);
          },
        }),
      ),
    );
  };
}
