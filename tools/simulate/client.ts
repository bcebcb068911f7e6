import type { Clock } from '../../src/clock.ts';
import { Dispatcher } from '../../src/dispatcher/dispatcher.ts';
import type { Request } from '../../src/dispatcher/request.ts';
import type { Limit } from '../../src/limits/limit.ts';
import type { Grant, Waiter } from '../../src/port/line.ts';
import type { Ledger } from '../../src/stores/store.ts';

const one = Object.freeze([1]);

export interface ClientOptions {
  clock: Clock;
  limit: Limit;
  ledger: Ledger;
  /** The number of requests that always wait. */
  waiting: number;
  /** The chance that a request is cancelled, and the longest time until then, in ms. */
  cancel: number;
  cancelWithin: number;
  random: () => number;
  granted(grant: Grant): void;
}

/** A process that always has waiting requests, until it leaves. */
export interface Client {
  /** Ends like `close()`: refunds its reservations. */
  leave(): void;
}

export function startClient(options: ClientOptions): Client {
  const { clock, limit, ledger, waiting, cancel, cancelWithin, random } = options;
  const named = { record: false, names: [''], limits: [limit] };
  const dispatcher = new Dispatcher({ name: 'simulated', named, ledger, clock, maxQueue: Infinity });
  let left = false;

  const counted: Waiter<undefined> = {
    granted(grant) {
      options.granted(grant);
      ask();
    },
    denied() {},
    failed() {},
  };

  function ask(): void {
    if (left) return;
    if (random() >= cancel) dispatcher.count(counted, one);
    else askForATime();
  }

  /** Requests a permit, and cancels the request after a random time without a grant. */
  function askForATime(): void {
    let entry: Request | undefined;
    let stop = () => {};
    const waiter: Waiter<undefined> = {
      granted(grant) {
        stop();
        entry = undefined;
        counted.granted(grant, undefined);
      },
      denied() {},
      failed() {},
    };
    entry = dispatcher.ask(waiter, one, Infinity, undefined);
    stop = clock.after(random() * cancelWithin, () => {
      if (!entry) return;
      dispatcher.cancel(entry);
      ask();
    });
  }

  for (let i = 0; i < waiting; i++) ask();
  return {
    leave() {
      left = true;
      void dispatcher.close();
    },
  };
}
