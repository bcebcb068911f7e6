import type { Waiter } from '../port/line.ts';
import type { Reporter } from './reporter.ts';
import type { Reason, Request } from './request.ts';

/** Requests that have ended without a grant, and whose callbacks have not been run yet. */
export class SettledQueue {
  #pending: Request[] = [];
  #reporting: Request[] = [];

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  add(request: Request, reason: Reason): void {
    request.reason = reason;
    this.#pending.push(request);
  }

  /** Runs the callbacks in order, and those of requests that end meanwhile. */
  report(reporter: Reporter): void {
    while (this.#pending.length > 0) {
      const requests = this.#pending;
      this.#pending = [];
      this.#reporting = requests;
      for (const request of requests)
        for (let i = 0; i < request.count; i++)
          if (request.reason instanceof Error) reporter.failed(request, request.reason);
          else reporter.denied(request, request.reason);
    }
    this.#reporting = [];
  }

  /** Drops the remaining callbacks of a waiter. */
  forget(waiter: Waiter<unknown>): void {
    for (const requests of [this.#reporting, this.#pending])
      for (const request of requests) if (request.waiter === waiter) request.count = 0;
  }
}
