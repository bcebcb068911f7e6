import { Ring } from '../ring.ts';
import type { Reply } from '../stores/store.ts';
import type { Request } from './request.ts';

/** A `decide` or `peek` call that is sent after the requests in front of it. */
interface Lookup {
  send(): void;
  fail(error: Error): void;
  /** The last request of the queue when the lookup was made. */
  behind: Request | undefined;
}

/** The `decide` and `peek` calls of a dispatcher, each behind the requests that came before it. */
export class Lookups {
  readonly #waiting = new Ring<Lookup>();
  readonly #replied: () => void;
  #inFlight = 0;

  /** `replied` is called after each reply. */
  constructor(replied: () => void) {
    this.#replied = replied;
  }

  /** Whether a lookup has not been sent yet. */
  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  get idle(): boolean {
    return !this.areWaiting && this.#inFlight === 0;
  }

  add<T>(call: (done: Reply<T>) => void, reply: Reply<T>, behind: Request | undefined): void {
    const done: Reply<T> = (error, answer) => {
      this.#inFlight--;
      reply(error, answer);
      this.#replied();
    };
    const send = () => {
      this.#inFlight++;
      call(done);
    };
    this.#waiting.push({ send, fail: reply, behind });
  }

  /** Sends the lookups without an unsent request in front of them; or all, if such requests are known to have to wait. */
  send(mustWait: boolean): void {
    while (this.areWaiting) {
      if (!mustWait && this.#waiting.peek().behind?.stage === 'queued') return;
      this.#waiting.shift().send();
    }
  }

  /** Fails the lookups that have not been sent. */
  fail(error: Error): void {
    while (this.areWaiting) this.#waiting.shift().fail(error);
  }
}
