import type { SchedulerLike, Subscription } from 'rxjs';
import { type Limit, memoryStore, type Permit, permits$, RateLimiter } from '../../src/index.ts';

/** One request of one process, as the timeline shows it. Times in milliseconds since the start. */
export interface Marble {
  readonly id: number;
  /** The process, counted from 0. */
  readonly process: number;
  readonly arrivedAt: number;
  state: 'waiting' | 'granted' | 'cancelled' | 'refunded' | 'rejected';
  /** When it was granted, cancelled or rejected; undefined while it waits. */
  endedAt: number | undefined;
}

/** A pause of the whole fleet. */
export interface Pause {
  readonly from: number;
  readonly to: number;
}

/** The requests of one process that may wait; further ones are rejected. */
export const maxQueue = 20;

/** A marble with the parts of the library behind it. */
interface Request {
  readonly marble: Marble;
  subscription: Subscription | undefined;
  permit: Permit | undefined;
}

/** Processes that share one limit: limiters with one store and one name. */
export class Fleet {
  readonly pauses: Pause[] = [];
  readonly #time: SchedulerLike;
  readonly #limiters: RateLimiter[];
  #requests: Request[] = [];
  #nextId = 1;

  constructor(limit: Limit, processes: number, time: SchedulerLike) {
    const store = memoryStore();
    this.#time = time;
    this.#limiters = Array.from(
      { length: processes },
      () => new RateLimiter({ name: 'playground', limit, store, maxQueue, scheduler: time }),
    );
  }

  get processes(): number {
    return this.#limiters.length;
  }

  /** All requests that are still remembered, in order of arrival. */
  get marbles(): readonly Marble[] {
    return this.#requests.map(({ marble }) => marble);
  }

  /** Makes a request; it may be granted at once. */
  emit(process: number): Marble {
    const marble: Marble = {
      id: this.#nextId++,
      process,
      arrivedAt: this.#time.now(),
      state: 'waiting',
      endedAt: undefined,
    };
    const request: Request = { marble, subscription: undefined, permit: undefined };
    this.#requests.push(request);
    request.subscription = permits$(this.#limiters[process]).subscribe({
      next(permit) {
        request.permit = permit;
        marble.state = 'granted';
        marble.endedAt = permit.grantedAt;
      },
      // The queue is full.
      error() {
        marble.state = 'rejected';
        marble.endedAt = marble.arrivedAt;
      },
    });
    return marble;
  }

  /** Unsubscribes from a waiting request. Returns whether it was waiting. */
  cancel(id: number): boolean {
    const request = this.#requests.find(({ marble }) => marble.id === id);
    if (request?.marble.state !== 'waiting') return false;
    request.subscription!.unsubscribe();
    request.marble.state = 'cancelled';
    request.marble.endedAt = this.#time.now();
    return true;
  }

  /** Refunds the permit that was granted last. Returns its request, or undefined if there is none. */
  refundLast(): Marble | undefined {
    const granted = this.#requests.filter(({ marble }) => marble.state === 'granted');
    if (granted.length === 0) return undefined;
    const last = granted.reduce((a, b) => (b.marble.endedAt! >= a.marble.endedAt! ? b : a));
    void last.permit!.refund();
    last.marble.state = 'refunded';
    return last.marble;
  }

  /** Pauses the whole fleet. */
  pause(ms: number): void {
    void this.#limiters[0].pauseFor(ms);
    this.pauses.push({ from: this.#time.now(), to: this.#time.now() + ms });
  }

  /** Drops requests that ended, and pauses that were over, before a moment. */
  forget(before: number): void {
    this.#requests = this.#requests.filter(({ marble: { endedAt = Infinity } }) => endedAt >= before);
    const over = this.pauses.findIndex(({ to }) => to >= before);
    this.pauses.splice(0, over < 0 ? this.pauses.length : over);
  }

  /** Cancels all waiting requests, and leaves no timer. */
  close(): void {
    for (const { subscription } of this.#requests) subscription?.unsubscribe();
    for (const limiter of this.#limiters) void limiter.close();
  }
}
