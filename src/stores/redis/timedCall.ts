import type { Link } from '../../chain.ts';
import type { CancelTimer } from '../../clock.ts';
import { withoutStack } from '../../withoutStack.ts';
import type { Reply } from '../store.ts';
import { isMoving } from './errors.ts';

/** The members of `TimedCalls` that a call uses. */
export interface PendingCalls {
  /** Calls `work` after some time. Returns a function that cancels it. */
  retryLater(work: () => void): CancelTimer;
  /** The error of a call without a reply. */
  errorOf(limiter: string, reason: Error): Error;
  /** Removes a call that has ended, by a reply or without one. */
  remove(call: AnyCall, replied: boolean): void;
}

/** A call to Redis that has no reply yet. */
export class TimedCall<T> implements Link<AnyCall> {
  previous: AnyCall | undefined;
  next: AnyCall | undefined;
  readonly #calls: PendingCalls;
  readonly #limiter: string;
  readonly #send: (reply: Reply<T>) => void;
  readonly #reply: Reply<T>;
  readonly #late: ((value: T) => void) | undefined;
  readonly #retries: boolean;
  #ended = false;
  #cancelRetry: CancelTimer | undefined;
  /** The error because of which it is sent again. */
  #refusal: Error | undefined;
  /** When the call times out, by the clock. */
  due: number;
  isSent = false;
  /** How often the connection was lost, or could not be opened, while the call waited for it. */
  losses = 0;

  constructor(
    calls: PendingCalls,
    limiter: string,
    due: number,
    send: (reply: Reply<T>) => void,
    reply: Reply<T>,
    late: ((value: T) => void) | undefined,
    retries: boolean,
  ) {
    this.#calls = calls;
    this.#limiter = limiter;
    this.due = due;
    this.#send = send;
    this.#reply = reply;
    this.#late = late;
    this.#retries = retries;
  }

  send(): void {
    this.isSent = true;
    this.#attempt();
  }

  fail(reason: Error): void {
    if (this.#ended) return;
    this.#end(false);
    this.#reply(this.#refusal ?? withoutStack(() => this.#calls.errorOf(this.#limiter, reason)));
  }

  #attempt(): void {
    this.#send((error, value) => {
      if (this.#ended) {
        if (!error) this.#late?.(value as T);
      } else if (error && this.#retries && isMoving(error)) {
        this.#refusal = error;
        this.#cancelRetry = this.#calls.retryLater(() => this.#attempt());
      } else {
        this.#end(true);
        this.#reply(error, value);
      }
    });
  }

  #end(replied: boolean): void {
    this.#ended = true;
    this.#cancelRetry?.();
    this.#calls.remove(this, replied);
  }
}

/** A call, whatever its reply is. */
export interface AnyCall extends Link<AnyCall> {
  due: number;
  readonly isSent: boolean;
  losses: number;
  send(): void;
  fail(reason: Error): void;
}
