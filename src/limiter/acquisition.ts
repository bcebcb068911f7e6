import type { AcquireTimeoutError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Ticket, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { withoutStack } from '../withoutStack.ts';
import { onAbort } from './abort.ts';
import type { AcquireOptions } from './acquireOptions.ts';

/** Requests permits of a line. Resolves with the permit at its granted moment. */
export function acquireFrom<P>(
  line: Line<P>,
  permits: P,
  cost: Cost,
  options: AcquireOptions = {},
): Promise<Permit<P>> {
  const { timeout = Infinity, signal } = options;
  if (timeout === Infinity && !signal) return count(line, permits, cost);
  return new Promise((resolve, reject) => {
    const isCounted = timeout > 0 && !signal;
    const acquisition = isCounted
      ? new TimedAcquisition(line, permits, timeout, resolve, reject)
      : new CancellableAcquisition(line, permits, cost, options, resolve, reject);
    if (acquisition instanceof CancellableAcquisition) acquisition.start();
    else line.count(counted, cost, acquisition, timeout);
    // A request that is refused before this returns gets a stack, since that names the caller.
    const { refusal } = acquisition;
    if (refusal) Error.captureStackTrace?.(refusal, acquireFrom);
  });
}

/** A request without timeout and signal. Its function keeps no variables for other closures, so V8 needs no objects for them. */
function count<P>(line: Line<P>, permits: P, cost: Cost): Promise<Permit<P>> {
  return new Promise((resolve, reject) =>
    line.count(counted, cost, new Acquisition(line, permits, resolve, reject)),
  );
}

/** Requests permits of a line. Resolves with whether they were granted. */
export function tryAcquireFrom<P>(
  line: Line<P>,
  permits: P,
  cost: Cost,
  options: AcquireOptions,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const granted = () => resolve(true);
    const denied = () => resolve(false);
    new CancellableAcquisition(line, permits, cost, options, granted, reject, denied).start();
  });
}

/** One request, which ends with a permit or with a reason. */
class Acquisition<P> implements Waiter<undefined> {
  readonly #requestedAt: number;

  constructor(
    protected readonly line: Line<P>,
    protected readonly permits: P,
    protected readonly resolve: (permit: Permit<P>) => void,
    protected readonly reject: (reason: unknown) => void,
  ) {
    this.#requestedAt = line.requestTime;
  }

  get isPassive(): boolean {
    return true;
  }

  granted(grant: Grant): void {
    this.resolve(this.line.permitOf(grant, this.permits, this.#requestedAt));
  }

  denied(retryAfter: number | undefined): void {
    this.refuse(Infinity, retryAfter);
  }

  failed(error: Error): void {
    this.reject(error);
  }

  /** Rejects the request because of its timeout. Returns the error. */
  protected refuse(timeout: number, retryAfter: number | undefined): AcquireTimeoutError {
    const error = withoutStack(() => this.line.timeoutError(this.permits, timeout, retryAfter));
    this.reject(error);
    return error;
  }
}

/** One request with a timeout, which may be refused. */
class TimedAcquisition<P> extends Acquisition<P> {
  readonly #timeout: number;
  /** The error with which it was rejected because of its timeout. */
  refusal: AcquireTimeoutError | undefined;

  constructor(
    line: Line<P>,
    permits: P,
    timeout: number,
    resolve: (permit: Permit<P>) => void,
    reject: (reason: unknown) => void,
  ) {
    super(line, permits, resolve, reject);
    this.#timeout = timeout;
  }

  override denied(retryAfter: number | undefined): void {
    this.refusal = this.refuse(this.#timeout, retryAfter);
  }
}

/** The waiter of all requests without a signal that may wait: one waiter, so that the line only counts them. */
const counted: Waiter<Waiter<undefined>> = {
  isPassive: true,
  granted: (grant, acquisition) => acquisition.granted(grant, undefined),
  denied: (retryAfter, acquisition) => acquisition.denied(retryAfter, undefined),
  failed: (error, acquisition) => acquisition.failed(error, undefined),
};

/**
 * A request that may have a timeout and a signal, and ends once: with a permit, with a reason, or cancelled. With `deny`, that
 * is called instead of a rejection with AcquireTimeoutError: an error with its stack costs more than the request.
 */
export class CancellableAcquisition<P> extends Acquisition<P> {
  readonly #timeout: number;
  readonly #cost: Cost;
  readonly #signal: AbortSignal | undefined;
  readonly #deny: (() => void) | undefined;
  /** The error with which it was rejected because of its timeout. */
  refusal: AcquireTimeoutError | undefined;
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
    super(line, permits, resolve, reject);
    this.#timeout = timeout;
    this.#signal = signal;
    this.#deny = deny;
    this.#cost = cost;
  }

  /** Makes the request; it may end before this returns. */
  start(): void {
    const signal = this.#signal;
    if (signal?.aborted) {
      this.#isSettled = true;
      this.reject(signal.reason);
      return;
    }
    if (signal)
      this.#removeListener = onAbort(signal, () => {
        this.cancel();
        this.reject(signal.reason);
      });
    const ticket = this.line.ask(this, this.#cost, this.#timeout, undefined);
    // It may have been cancelled before its ticket was known.
    if (this.#isSettled) this.line.cancel(ticket);
    else this.#ticket = ticket;
  }

  override granted(grant: Grant): void {
    if (this.#isSettled) {
      this.line.refund(grant);
      return;
    }
    this.#settle();
    super.granted(grant);
  }

  override denied(retryAfter: number | undefined): void {
    if (this.#isSettled) return;
    this.#settle();
    if (this.#deny) this.#deny();
    else this.refusal = this.refuse(this.#timeout, retryAfter);
  }

  override failed(error: Error): void {
    if (this.#isSettled) return;
    this.#settle();
    super.failed(error);
  }

  /** Cancels the request; no callback is called. Has no effect once the request has ended. */
  cancel(): void {
    if (this.#isSettled) return;
    this.#settle();
    if (this.#ticket) this.line.cancel(this.#ticket);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#removeListener?.();
  }
}
