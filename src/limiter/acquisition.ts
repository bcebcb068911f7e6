import { AcquireTimeoutError, type AskedPermits } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Ticket, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { abortSignal, duration, knownOptions, options as optionsObject } from '../validate.ts';
import { onAbort } from './abort.ts';
import { withoutStack } from './withoutStack.ts';

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

const known = ['timeout', 'signal'];

/** Throws for invalid options. */
export function checkAcquireOptions(options: AcquireOptions | undefined): void {
  if (options === undefined) return;
  optionsObject('options', options);
  knownOptions(options, known);
  const { timeout, signal } = options;
  if (timeout !== undefined) duration('timeout', timeout);
  abortSignal('signal', signal);
}

/** Requests permits of a line. Resolves with the permit at its granted moment. */
export function acquireFrom<P>(
  line: Line<P>,
  permits: P,
  cost: Cost,
  options: AcquireOptions,
): Promise<Permit<P>> {
  return new Promise((resolve, reject) =>
    new Acquisition(line, permits, cost, options, resolve, reject).start(),
  );
}

/**
 * One request with a signal, which ends once: with a permit, with a reason, or cancelled. With `deny`, that is called instead
 * of a rejection with AcquireTimeoutError: an error with its stack costs more than the request.
 */
export class Acquisition<P> implements Waiter<undefined> {
  readonly #line: Line<P>;
  readonly #permits: P;
  readonly #requestedAt: number;
  readonly #timeout: number;
  readonly #cost: Cost;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (permit: Permit<P>) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #deny: (() => void) | undefined;
  #ticket: Ticket | undefined;
  #removeListener: (() => void) | undefined;
  #isSettled = false;

  constructor(
    line: Line<P>,
    permits: P,
    cost: Cost,
    { timeout = Infinity, signal }: AcquireOptions,
    resolve: (permit: Permit<P>) => void,
    reject: (reason: unknown) => void,
    deny?: () => void,
  ) {
    this.#line = line;
    this.#permits = permits;
    this.#timeout = timeout;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#deny = deny;
    this.#requestedAt = line.now();
    this.#cost = cost;
  }

  /** Makes the request; it may end before this returns. */
  start(): void {
    const signal = this.#signal;
    if (signal?.aborted) {
      this.#isSettled = true;
      this.#reject(signal.reason);
      return;
    }
    if (signal)
      this.#removeListener = onAbort(signal, () => {
        this.cancel();
        this.#reject(signal.reason);
      });
    const ticket = this.#line.ask(this, this.#cost, this.#timeout, undefined);
    // It may have been cancelled before its ticket was known.
    if (this.#isSettled) this.#line.cancel(ticket);
    else this.#ticket = ticket;
  }

  granted(grant: Grant): void {
    if (this.#isSettled) {
      this.#line.refund(grant);
      return;
    }
    this.#settle();
    this.#resolve(this.#line.permitOf(grant, this.#permits, this.#requestedAt));
  }

  denied(retryAfter: number | undefined): void {
    if (this.#isSettled) return;
    this.#settle();
    if (this.#deny) {
      this.#deny();
      return;
    }
    const permits = this.#permits as AskedPermits;
    const error = withoutStack(
      () => new AcquireTimeoutError(this.#line.name, permits, this.#timeout, retryAfter),
    );
    // Refused before `start` has returned: the stack names the caller.
    if (!this.#ticket) Error.captureStackTrace?.(error, acquireFrom);
    this.#reject(error);
  }

  failed(error: Error): void {
    if (this.#isSettled) return;
    this.#settle();
    this.#reject(error);
  }

  /** Cancels the request; neither callback is called. Has no effect once the request has ended. */
  cancel(): void {
    if (this.#isSettled) return;
    this.#settle();
    if (this.#ticket) this.#line.cancel(this.#ticket);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#removeListener?.();
  }
}
