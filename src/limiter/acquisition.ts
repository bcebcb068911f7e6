import { AcquireTimeoutError, type AskedPermits } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Grant, Line, Ticket, Waiter } from '../port/line.ts';
import type { Permit } from '../port/permit.ts';
import { abortSignal, duration, knownOptions, options as optionsObject } from '../validate.ts';
import { onAbort } from './abort.ts';

/** How long a request may wait, and what may cancel it. */
export interface AcquireOptions {
  /**
   * Milliseconds that the request may wait for its permits: may be fractional, 0 for not at all, or Infinity.
   *
   * @default Infinity
   */
  timeout?: number | undefined;
  /** Cancels the request: it rejects with the signal's reason, and what was booked for it is given back. */
  signal?: AbortSignal | undefined;
}

const known = ['timeout', 'signal'];

/** Refuses options of the wrong type or out of range. */
export function checkAcquireOptions(options: AcquireOptions | undefined): void {
  if (options === undefined) return;
  optionsObject('options', options);
  knownOptions(options, known);
  const { timeout, signal } = options;
  if (timeout !== undefined) duration('timeout', timeout);
  abortSignal('signal', signal);
}

/** One request, as promises and single observables make it: it ends with a permit or a reason. */
export class Acquisition<P> implements Waiter<undefined> {
  readonly #line: Line<P>;
  readonly #permits: P;
  readonly #asked: number;
  readonly #timeout: number;
  readonly #cost: Cost;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (permit: Permit<P>) => void;
  readonly #reject: (reason: unknown) => void;
  #ticket: Ticket | undefined;
  #forget: (() => void) | undefined;
  #settled = false;

  constructor(
    line: Line<P>,
    permits: P,
    cost: Cost,
    { timeout = Infinity, signal }: AcquireOptions,
    resolve: (permit: Permit<P>) => void,
    reject: (reason: unknown) => void,
  ) {
    this.#line = line;
    this.#permits = permits;
    this.#timeout = timeout;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#asked = line.now();
    this.#cost = cost;
  }

  /** Joins the line. */
  ask(): this {
    const signal = this.#signal;
    if (signal?.aborted) {
      this.#settled = true;
      this.#reject(signal.reason);
      return this;
    }
    if (signal) this.#forget = onAbort(signal, this.#abort);
    const ticket = this.#line.ask(this, this.#cost, this.#timeout, undefined);
    // It may have been cancelled while it asked.
    if (this.#settled) this.#line.cancel(ticket);
    else this.#ticket = ticket;
    return this;
  }

  granted(grant: Grant): void {
    if (this.#settled) {
      this.#line.refund(grant);
      return;
    }
    this.#settle();
    this.#resolve(this.#line.permitOf(grant, this.#permits, this.#asked));
  }

  denied(retryAfter: number | undefined): void {
    if (this.#settled) return;
    this.#settle();
    this.#reject(
      new AcquireTimeoutError(this.#line.name, this.#permits as AskedPermits, this.#timeout, retryAfter),
    );
  }

  failed(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#reject(error);
  }

  /** Leaves the line, and says nothing more; without effect once it has been answered. */
  cancel(): void {
    if (this.#settled) return;
    this.#settle();
    if (this.#ticket) this.#line.cancel(this.#ticket);
  }

  readonly #abort = (): void => {
    this.cancel();
    this.#reject(this.#signal!.reason);
  };

  #settle(): void {
    this.#settled = true;
    this.#forget?.();
  }
}
