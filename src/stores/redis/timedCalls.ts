import type { CancelTimer, Clock } from '../../clock.ts';
import { StoreUnavailableError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import type { Connection, Watcher } from './connection.ts';

/** How the calls of a store reach Redis. */
export interface CallOptions {
  clock: Clock;
  connection: Connection;
  /** Milliseconds that a call may take. */
  timeout: number;
  /**
   * Whether a call that cannot be sent at once fails, as every call does when the connection is lost; a connection that is
   * being opened for the first time is waited for. If false, ioredis decides how long it queues a call.
   */
  failsFast: boolean;
}

/**
 * The calls of a store that Redis has not answered. A call that takes longer than the timeout fails with
 * StoreUnavailableError; the value of a later reply is passed to `late`.
 *
 * All calls have the same timeout, so that the oldest is the first to be due, and one timer is enough.
 */
export class TimedCalls implements Watcher {
  readonly #options: CallOptions;
  /** In the order in which they were made. */
  readonly #pending = new Set<AnyCall>();
  #cancelTimer: CancelTimer | undefined;

  constructor(options: CallOptions) {
    this.#options = options;
  }

  /** Makes a call of a limiter. `send` is called at once, when the connection is ready, or never. */
  call<T>(
    limiter: string,
    send: (reply: Reply<T>) => void,
    reply: Reply<T>,
    late?: (value: T) => void,
  ): void {
    const { clock, connection, timeout, failsFast } = this.#options;
    if (failsFast && !connection.ready && !connection.starts) {
      reply(new StoreUnavailableError(limiter, connection.reason));
      return;
    }
    const call = new TimedCall(this, limiter, clock.now() + timeout, send, reply, late);
    this.#pending.add(call);
    if (this.#pending.size === 1) {
      if (failsFast) connection.watch(this);
      this.#setTimer(timeout);
    }
    if (!failsFast || connection.ready) call.sendOnce();
  }

  /** The connection is ready: sends the calls that have waited for it. */
  ready(): void {
    for (const call of [...this.#pending]) call.sendOnce();
  }

  /** The connection is lost: fails all calls. */
  lost(reason: Error): void {
    for (const call of [...this.#pending]) call.fail(reason);
  }

  /** Removes a call that has ended. Returns false if it had ended before. */
  remove(call: AnyCall): boolean {
    const removed = this.#pending.delete(call);
    if (removed && this.#pending.size === 0) {
      this.#cancelTimer?.();
      this.#cancelTimer = undefined;
      this.#options.connection.unwatch(this);
    }
    return removed;
  }

  #setTimer(ms: number): void {
    this.#cancelTimer?.();
    if (ms === Infinity) return;
    const { clock } = this.#options;
    const due = clock.now() + ms;
    const cancel = clock.after(ms, () => {
      // A blocked event loop runs its timers before it reads the replies that are in the socket.
      globalThis.setImmediate(() => {
        if (this.#cancelTimer === cancel) this.#expire(due);
      });
    });
    this.#cancelTimer = cancel;
  }

  /** Fails the calls whose time is over. `due` is when the timer was to fire. */
  #expire(due: number): void {
    const { clock, connection, timeout } = this.#options;
    const now = clock.now();
    // The event loop was blocked for so long that a call may not even have been sent.
    if (now - due > timeout / 2) for (const call of this.#pending) call.due = now + timeout;
    const slow = new Error(`no answer within ${timeout} ms`);
    for (const call of this.#pending) {
      if (call.due > now) {
        this.#setTimer(call.due - now);
        return;
      }
      call.fail(call.isSent && connection.ready ? slow : connection.reason);
    }
  }
}

/** A call that Redis has not answered. */
class TimedCall<T> {
  readonly #calls: TimedCalls;
  readonly #limiter: string;
  readonly #send: (reply: Reply<T>) => void;
  readonly #reply: Reply<T>;
  readonly #late: ((value: T) => void) | undefined;
  /** When its time is over, by the clock. */
  due: number;
  isSent = false;

  constructor(
    calls: TimedCalls,
    limiter: string,
    due: number,
    send: (reply: Reply<T>) => void,
    reply: Reply<T>,
    late: ((value: T) => void) | undefined,
  ) {
    this.#calls = calls;
    this.#limiter = limiter;
    this.due = due;
    this.#send = send;
    this.#reply = reply;
    this.#late = late;
  }

  sendOnce(): void {
    if (this.isSent) return;
    this.isSent = true;
    this.#send((error, value) => {
      if (this.#calls.remove(this)) this.#reply(error, value);
      else if (!error) this.#late?.(value as T);
    });
  }

  fail(reason: Error): void {
    if (this.#calls.remove(this)) this.#reply(new StoreUnavailableError(this.#limiter, reason));
  }
}

/** A call, whatever its reply is. */
type AnyCall = Pick<TimedCall<unknown>, 'due' | 'isSent' | 'sendOnce' | 'fail'>;
