import type { Waiter } from '../port/line.ts';
import type { Reporter } from './reporter.ts';
import type { Request } from './request.ts';

interface Told {
  readonly request: Request;
  readonly tell: (reporter: Reporter, request: Request) => void;
}

/** What the waiters of requests that have left the line are still to be told. */
export class SettledQueue {
  #untold: Told[] = [];
  /** What is being told. */
  #telling: Told[] = [];

  get none(): boolean {
    return this.#untold.length === 0;
  }

  late(request: Request, retryAfter: number | undefined): void {
    this.#untold.push({ request, tell: (reporter, request) => reporter.late(request, retryAfter) });
  }

  refused(request: Request, error: Error): void {
    this.#untold.push({ request, tell: (reporter, request) => reporter.refused(request, error) });
  }

  /** Tells each request of each request, in order; what comes up meanwhile is told too. */
  tell(reporter: Reporter): void {
    while (this.#untold.length > 0) {
      const told = this.#untold;
      this.#untold = [];
      this.#telling = told;
      for (const { request, tell } of told) for (let i = 0; i < request.count; i++) tell(reporter, request);
    }
    this.#telling = [];
  }

  /** Keeps from a waiter what it has not been told. */
  forget(waiter: Waiter<unknown>): void {
    for (const news of [this.#telling, this.#untold])
      for (const { request } of news) if (request.waiter === waiter) request.count = 0;
  }
}
