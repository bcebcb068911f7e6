import type { Entry } from './entry.ts';
import type { Herald } from './herald.ts';

/** What the waiters of entries that have left the line are still to be told. */
export class News {
  #untold: { entry: Entry; tell: (herald: Herald, entry: Entry) => void }[] = [];

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
      for (const { entry, tell } of told) for (let i = 0; i < entry.count; i++) tell(herald, entry);
    }
  }
}
