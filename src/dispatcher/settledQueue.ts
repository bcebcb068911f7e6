import type { Waiter } from '../port/line.ts';
import type { Reporter } from './reporter.ts';
import type { Reason, Request } from './request.ts';

/** Requests that have ended without a grant, and whose callbacks have not been run yet. */
export class SettledQueue {
  #requests: Request[] = [];
  /** The index of the first one. */
  #head = 0;
  #reporting: Request | undefined;

  get first(): Request | undefined {
    return this.#requests[this.#head];
  }

  get isEmpty(): boolean {
    return this.first === undefined;
  }

  add(request: Request, reason: Reason): void {
    request.reason = reason;
    this.#requests.push(request);
  }

  /** Brings the requests that ended with one reply into their order. */
  sort(): void {
    if (!this.isEmpty) this.#requests = this.#take().sort((a, b) => a.order - b.order);
  }

  /** Runs the callbacks of the first one. */
  reportFirst(reporter: Reporter): void {
    const request = this.first!;
    this.#head++;
    if (this.isEmpty) this.#take();
    this.#reporting = request;
    for (let i = 0; i < request.count; i++)
      if (request.reason instanceof Error) reporter.failed(request, request.reason, i);
      else reporter.denied(request, request.reason, i);
    this.#reporting = undefined;
  }

  /** Drops the remaining callbacks of a waiter. */
  forget(waiter: Waiter<unknown>): void {
    if (this.#reporting?.waiter === waiter) this.#reporting.count = 0;
    for (let i = this.#head; i < this.#requests.length; i++)
      if (this.#requests[i].waiter === waiter) this.#requests[i].count = 0;
  }

  #take(): Request[] {
    const requests = this.#requests.slice(this.#head);
    this.#requests = [];
    this.#head = 0;
    return requests;
  }
}
