import type { Entry } from './entry.ts';
import type { Herald } from './herald.ts';
import type { Waiter } from './line.ts';

interface Told {
  readonly entry: Entry;
  readonly tell: (herald: Herald, entry: Entry) => void;
}

/** What the waiters of entries that have left the line are still to be told. */
export class News {
  #untold: Told[] = [];
  /** What is being told. */
  #telling: Told[] = [];

  get none(): boolean {
    return this.#untold.length === 0;
  }

  late(entry: Entry, retryAfter: number | undefined): void {
    this.#untold.push({ entry, tell: (herald, request) => herald.late(request, retryAfter) });
  }

  refused(entry: Entry, error: Error): void {
    this.#untold.push({ entry, tell: (herald, request) => herald.refused(request, error) });
  }

  /** Tells each request of each entry, in order; what comes up meanwhile is told too. */
  tell(herald: Herald): void {
    while (this.#untold.length > 0) {
      const told = this.#untold;
      this.#untold = [];
      this.#telling = told;
      for (const { entry, tell } of told) for (let i = 0; i < entry.count; i++) tell(herald, entry);
    }
    this.#telling = [];
  }

  /** Keeps from a waiter what it has not been told. */
  forget(waiter: Waiter<unknown>): void {
    for (const news of [this.#telling, this.#untold])
      for (const { entry } of news) if (entry.waiter === waiter) entry.count = 0;
  }
}
