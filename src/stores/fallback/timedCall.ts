import type { CancelTimer, Clock } from '../../clock.ts';
import { StoreUnavailableError } from '../../errors.ts';
import type { Reply } from '../store.ts';
import type { Connection, Watcher } from './connection.ts';

/** How a limiter reaches Redis. */
export interface Way {
  /** The limiter's name. */
  name: string;
  connection: Connection;
  clock: Clock;
  /** Milliseconds that a call may take, the wait for a connection that comes up included. */
  timeout: number;
}

/**
 * Calls Redis once, and answers in time: with a StoreUnavailableError where Redis has not answered by then, or the
 * connection is lost. Nothing is sent unless it leaves at once. A value that comes after that is handed to `late`.
 */
export function timedCall<T>(
  { name, connection, clock, timeout }: Way,
  send: (reply: Reply<T>) => void,
  ended: Reply<T>,
  late: (value: T) => void,
): void {
  let sent = false;
  let over = false;
  let cancel: CancelTimer | undefined;

  const end: Reply<T> = (error, value) => {
    over = true;
    cancel?.();
    connection.unwatch(watcher);
    ended(error, value);
  };
  const lost = (reason: Error) => end(new StoreUnavailableError(name, reason));
  const answered: Reply<T> = (error, value) => {
    if (!over) end(error, value);
    else if (!error) late(value as T);
  };
  const ready = () => {
    // The connection may tell of what was seen already.
    if (sent) return;
    sent = true;
    send(answered);
  };
  const watcher: Watcher = { ready, lost };

  const arm = () => {
    const due = clock.now() + timeout;
    cancel = clock.after(timeout, () => {
      // An event loop that was blocked runs its timers before it reads the answers that lie in the socket.
      globalThis.setImmediate(() => {
        if (over) return;
        // A timer that is this late says more of this process than of Redis, which may not even have been sent to.
        if (clock.now() - due > timeout / 2) arm();
        else lost(sent ? new Error(`no answer within ${timeout} ms`) : connection.reason);
      });
    });
  };

  if (!connection.ready && !connection.starts) {
    lost(connection.reason);
    return;
  }
  connection.watch(watcher);
  if (timeout < Infinity) arm();
  if (connection.ready) ready();
}
