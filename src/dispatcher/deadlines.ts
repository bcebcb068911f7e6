import type { Request } from './request.ts';

/** A binary heap of the requests that expire, the next one first. Each request knows its index, so that it can leave. */
export class Deadlines {
  readonly #heap: Request[] = [];
  /** Requests whose expiry is delayed until their first reply, in the order of joining. */
  readonly #unanswered = new Set<Request>();

  /** When the next request expires, or Infinity. */
  get next(): number {
    return this.#heap.length > 0 ? this.#heap[0].expires : Infinity;
  }

  get first(): Request | undefined {
    return this.#heap[0];
  }

  add(request: Request): void {
    this.#heap.push(request);
    request.heapIndex = this.#heap.length - 1;
    this.#rise(request);
  }

  /** Adds a request if it has a deadline and is not in the heap. */
  watch(request: Request): void {
    if (request.timeout > 0 && request.deadline < Infinity && request.heapIndex < 0) this.add(request);
  }

  /** Adds a request that expires `delay` ms after its deadline; at the deadline if a call after the first `calls` has a reply. */
  addUnanswered(request: Request, delay: number, calls: number): void {
    request.callsBefore = calls;
    request.expires += delay;
    this.#unanswered.add(request);
    this.add(request);
  }

  /** Call number `calls` has a reply: the requests that joined before that call now expire at their deadlines. */
  answered(calls: number): void {
    for (const request of this.#unanswered) {
      if (request.callsBefore >= calls) return;
      this.remove(request);
      request.expires = request.deadline;
      this.add(request);
    }
  }

  remove(request: Request): void {
    const { heapIndex } = request;
    if (heapIndex < 0) return;
    this.#unanswered.delete(request);
    request.heapIndex = -1;
    const last = this.#heap.pop()!;
    if (last === request) return;
    this.#put(last, heapIndex);
    this.#rise(last);
    this.#sink(last);
  }

  #put(request: Request, index: number): void {
    this.#heap[index] = request;
    request.heapIndex = index;
  }

  #rise(request: Request): void {
    while (request.heapIndex > 0) {
      const { heapIndex } = request;
      const parent = this.#heap[(heapIndex - 1) >> 1];
      if (parent.expires <= request.expires) return;
      this.#put(request, parent.heapIndex);
      this.#put(parent, heapIndex);
    }
  }

  #sink(request: Request): void {
    for (;;) {
      const { heapIndex } = request;
      const left = 2 * heapIndex + 1;
      let least = left;
      if (left >= this.#heap.length) return;
      if (left + 1 < this.#heap.length && this.#heap[left + 1].expires < this.#heap[left].expires)
        least = left + 1;
      const child = this.#heap[least];
      if (child.expires >= request.expires) return;
      this.#put(request, child.heapIndex);
      this.#put(child, heapIndex);
    }
  }
}
