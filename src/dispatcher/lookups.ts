import { Ring } from '../ring.ts';
import type { Queue } from './queue.ts';

/** A `decide` or `peek` call that is sent after the requests in front of it. */
interface Lookup {
  send(): void;
  fail(error: Error): void;
  /** The order of the newest request when the lookup was made. */
  behind: number;
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
    let unsent = mustWait ? undefined : queue.firstUnreserved;
    while (unsent?.stage === 'sent') unsent = unsent.next;
    while (this.areWaiting) {
      if (unsent && unsent.order <= this.#waiting.peek().behind) return;
      this.#waiting.shift().send();
    }
  }

  /** Fails the lookups. */
  fail(error: Error): void {
    while (this.areWaiting) this.#waiting.shift().fail(error);
  }
}
