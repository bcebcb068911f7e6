import { Heap } from '../heap.ts';
import type { Request } from './request.ts';

/** The requests that expire, the next one first. */
export class Deadlines {
  readonly #heap = new Heap<Request>();
  /** Requests whose expiry is delayed until their first reply, in the order of joining, each with the calls sent before it. */
  readonly #unanswered = new Map<Request, number>();

  /** When the next request expires, or Infinity. */
  get next(): number {
    return this.first?.expires ?? Infinity;
  }

  get first(): Request | undefined {
    return this.#heap.members[0];
  }

  /** Adds a request if it has a deadline and is not in the heap. */
  add(request: Request): void {
    if (request.mayExpire && request.heapIndex < 0) this.#heap.add(request);
  }

  /** Adds a request that expires `delay` ms after its deadline; at the deadline if a call after the first `calls` has a reply. */
  addUnanswered(request: Request, delay: number, calls: number): void {
    request.expires += delay;
    this.#unanswered.set(request, calls);
    this.add(request);
  }

  /** Call number `calls` has a reply: the requests that joined before that call now expire at their deadlines. */
  answered(calls: number): void {
    for (const [request, before] of this.#unanswered) {
      if (before >= calls) return;
      this.remove(request);
      request.expires = request.deadline;
      this.add(request);
    }
  }

  remove(request: Request): void {
    if (request.heapIndex < 0) return;
    this.#unanswered.delete(request);
    this.#heap.remove(request);
  }
}
