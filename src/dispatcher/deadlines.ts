import type { Request } from './request.ts';

/** The requests that may run out of time, the next to do so first: a binary heap whose requests know their place in it. */
export class Deadlines {
  readonly #heap: Request[] = [];

  /** When the next request runs out of time, or Infinity. */
  get next(): number {
    return this.#heap.length > 0 ? this.#heap[0].expires : Infinity;
  }

  get first(): Request | undefined {
    return this.#heap[0];
  }

  add(request: Request): void {
    this.#heap.push(request);
    request.place = this.#heap.length - 1;
    this.#rise(request);
  }

  /** An request runs out of time at another time than was taken. */
  move(request: Request, expires: number): void {
    const isThere = request.place >= 0;
    if (isThere) this.remove(request);
    request.expires = expires;
    if (isThere) this.add(request);
  }

  remove(request: Request): void {
    const { place } = request;
    if (place < 0) return;
    request.place = -1;
    const last = this.#heap.pop()!;
    if (last === request) return;
    this.#put(last, place);
    this.#rise(last);
    this.#sink(last);
  }

  #put(request: Request, place: number): void {
    this.#heap[place] = request;
    request.place = place;
  }

  #rise(request: Request): void {
    while (request.place > 0) {
      const { place } = request;
      const parent = this.#heap[(place - 1) >> 1];
      if (parent.expires <= request.expires) return;
      this.#put(request, parent.place);
      this.#put(parent, place);
    }
  }

  #sink(request: Request): void {
    for (;;) {
      const { place } = request;
      const left = 2 * place + 1;
      let least = left;
      if (left >= this.#heap.length) return;
      if (left + 1 < this.#heap.length && this.#heap[left + 1].expires < this.#heap[left].expires)
        least = left + 1;
      const child = this.#heap[least];
      if (child.expires >= request.expires) return;
      this.#put(request, child.place);
      this.#put(child, place);
    }
  }
}
