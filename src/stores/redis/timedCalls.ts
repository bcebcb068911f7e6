import { Chain } from '../../chain.ts';
import type { CancelTimer, Clock } from '../../clock.ts';
import { StoreUnavailableError } from '../../errors.ts';
import { WorkQueue } from '../../workQueue.ts';
import type { Reply } from '../store.ts';
import type { Connection, Watcher } from './connection.ts';
import { errorOf, isRefusal } from './errors.ts';
import { type AnyCall, type PendingCalls, TimedCall } from './timedCall.ts';

/** Milliseconds after which a call is sent again while its slot moves from one node of a cluster to another. */
const retryDelay = 100;

/**
 * The most calls that are sent and have no reply: the others wait here. A call is timed from when it is sent, so that a burst of
 * calls is not taken for a store that does not reply.
 */
const mostSent = 1_024;

/** How the calls of a store reach Redis. */
export interface CallOptions {
  clock: Clock;
  connection: Connection;
  /** Milliseconds that a call may take. */
  timeout: number;
  /**
   * Whether a call fails if it cannot be sent at once, and every call without a reply when the connection is lost. Calls wait only
   * for a connection that is being opened for the first time.
   */
  failsFast: boolean;
}

/**
 * The calls of a store that have no reply yet. A call that takes longer than the timeout fails with StoreUnavailableError; the
 * value of a later reply is passed to `late`.
 *
 * A call that cannot be sent now waits here, and is never sent once it has failed: in the queue of the client, it would run then.
 *
 * All calls have the same timeout, so that the oldest is the first to be due, and one timer is enough.
 */
export class TimedCalls implements Watcher, PendingCalls {
  readonly #options: CallOptions;
  /** Whether the loss of the connection ends the calls that are sent. */
  readonly #watches: boolean;
  /** In the order in which they were made. */
  readonly #pending = new Chain<AnyCall>();
  /** The first call that is to be sent: all before it are sent, or fail. */
  #unsent: AnyCall | undefined;
  /** Number of calls that are sent and have no reply. */
  #sent = 0;
  /** The timer stays set when no call is pending: to set it for each call would cost more than to let it fire. */
  #hasTimer = false;
  readonly #works = new WorkQueue();

  constructor(options: CallOptions) {
    this.#options = options;
    this.#watches = options.failsFast || options.connection.dropsCalls;
  }

  /** Whether the client drops calls without an error when the connection is lost. */
  get loses(): boolean {
    return this.#options.connection.dropsCalls;
  }

  /**
   * Makes a call of a limiter. `send` is called at once, or when the connection is ready, or never. A call that `retries` is
   * sent again while its slot moves from one node of a cluster to another: the script has not run then.
   */
  call<T>(
    limiter: string,
    send: (reply: Reply<T>) => void,
    reply: Reply<T>,
    late?: (value: T) => void,
    retries = true,
  ): void {
    const { clock, connection, timeout, failsFast } = this.#options;
    if (failsFast && !connection.ready && !connection.starts) {
      reply(new StoreUnavailableError(limiter, connection.reason));
      return;
    }
    const call = new TimedCall(this, limiter, clock.now() + timeout, send, reply, late, retries);
    if (!this.#pending.first) {
      if (this.#watches) connection.watch(this);
      this.#setTimer(timeout);
    }
    this.#pending.add(call);
    this.#unsent ??= call;
    this.#send();
  }

  /** The connection is ready: sends the calls that wait for it. */
  ready(): void {
    this.#send();
  }

  /** The connection is lost, or could not be opened: fails the calls that are lost with it, and those that would wait in vain. */
  lost(reason: Error): void {
    const { connection, failsFast } = this.#options;
    // With a wrong password, for example, no attempt would succeed.
    const isFinal = failsFast || isRefusal(reason);
    for (const call of this.#all) {
      const ends = call.isSent ? this.#watches : isFinal || connection.givesUpAfter(++call.losses);
      if (ends) call.fail(reason);
    }
    this.#send();
  }

  /** Whether calls wait for the connection. A call that the client would reject is sent, so that it fails with its error. */
  get #waits(): boolean {
    const { connection, failsFast } = this.#options;
    return !connection.ready && (failsFast || connection.queues);
  }

  /** Sends the calls that may be sent now. */
  #send(): void {
    if (!this.#unsent) return;
    if (this.#waits) {
      this.#options.connection.watch(this);
      return;
    }
    while (this.#unsent && this.#sent < mostSent) {
      const call: AnyCall = this.#unsent;
      this.#unsent = call.next;
      this.#sent++;
      call.send();
    }
  }

  get #all(): AnyCall[] {
    const all: AnyCall[] = [];
    for (let call = this.#pending.first; call; call = call.next) all.push(call);
    return all;
  }

  /** A fallback also serves if Redis has refused the connection. */
  errorOf(limiter: string, reason: Error): Error {
    return this.#options.failsFast ? new StoreUnavailableError(limiter, reason) : errorOf(limiter, reason);
  }

  retryLater(work: () => void): CancelTimer {
    const { clock } = this.#options;
    let cancel: CancelTimer;
    const retry = () => {
      cancel = clock.after(retryDelay, () => (this.#waits ? retry() : work()));
    };
    retry();
    return () => cancel();
  }

  remove(call: AnyCall, replied: boolean): void {
    const { clock, connection, timeout } = this.#options;
    if (call === this.#unsent) this.#unsent = call.next;
    this.#pending.remove(call);
    if (call.isSent) this.#sent--;
    if (replied && this.#unsent) {
      if (!this.#waits) this.#unsent.due = clock.now() + timeout;
      this.#send();
    }
    if (!this.#pending.first) connection.unwatch(this);
  }

  #setTimer(ms: number): void {
    if (this.#hasTimer || ms === Infinity) return;
    const { clock } = this.#options;
    const due = clock.now() + ms;
    this.#hasTimer = true;
    const expire = () => this.#expire(due);
    // After a blockage, the event loop runs timers before it reads the replies that have arrived.
    clock.after(ms, () => globalThis.setImmediate(expire), false);
  }

  /** Fails the calls that have timed out. `due` is when the timer was to fire. */
  #expire(due: number): void {
    const { clock, connection, timeout } = this.#options;
    const now = clock.now();
    this.#hasTimer = false;
    // The event loop was blocked for so long that a call may not have been sent.
    if (now - due > timeout / 2) for (const call of this.#all) call.due = now + timeout;
    const reason = connection.ready ? new Error(`no answer within ${timeout} ms`) : connection.reason;
    const late: AnyCall[] = [];
    for (let call = this.#pending.first; call && call.due <= now; call = call.next) {
      // It may fail only in one of the next turns.
      if (call === this.#unsent) this.#unsent = call.next;
      late.push(call);
    }
    for (const call of late) this.#works.run(() => call.fail(reason));
    this.#works.run(() => {
      // The replies may have added calls.
      const { first } = this.#pending;
      if (first) this.#setTimer(Math.max(0, first.due - clock.now()));
      this.#send();
    });
  }
}
