import { Ring } from '../ring.ts';
import type { Queue } from './queue.ts';
import type { Request } from './request.ts';

/** A `decide` or `peek` call that is sent after the requests in front of it. */
interface Lookup {
  send(): void;
  fail(error: Error): void;
  /** The last request of the queue when the lookup was made. */
  behind: Request | undefined;
}

/** The `decide` and `peek` calls that have not been sent, each behind the requests that came before it. */
export class Lookups {
  readonly #waiting = new Ring<Lookup>();

  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  add(lookup: Lookup): void {
    this.#waiting.push(lookup);
  }

  /** Sends the lookups without an unsent request in front of them; or all, if such requests are known to have to wait. */
  send(queue: Queue, mustWait: boolean): void {
    const unsent = mustWait ? undefined : firstUnsent(queue);
    while (this.areWaiting) {
      const { behind } = this.#waiting.peek();
      // A request that has ended keeps its order: those in front of it may not have been sent.
      if (unsent && behind && unsent.order <= behind.order) return;
      this.#waiting.shift().send();
    }
  }

  /** Fails the lookups. */
  fail(error: Error): void {
    while (this.areWaiting) this.#waiting.shift().fail(error);
  }
}

function firstUnsent(queue: Queue): Request | undefined {
  let first = queue.firstUnreserved;
  while (first?.stage === 'sent') first = first.next;
  return first;
}
