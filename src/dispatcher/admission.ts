import { LimiterClosedError, QueueOverflowError } from '../errors.ts';
import type { Cost } from '../limits/cost.ts';
import type { Waiter } from '../port/line.ts';
import type { LimitChanges } from './limitChanges.ts';
import type { Parts } from './parts.ts';
import type { Request } from './request.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** Decides which requests may join the queue, and which have to leave it because it is full. */
export class Admission {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  readonly #changes: LimitChanges;
  /** Whether a request whose waiter has a `delayed` callback has joined since those callbacks were last run. */
  #mayDelay = false;

  constructor(parts: Parts, calls: ReserveCalls, changes: LimitChanges) {
    this.#parts = parts;
    this.#calls = calls;
    this.#changes = changes;
  }

  /** Whether a new request is known to have to wait. */
  get mustWait(): boolean {
    const { clock, waitEstimate } = this.#parts;
    return this.#changes.isPausing || waitEstimate.mustWait(clock.now());
  }

  /**
   * Rejects a new request that may not join, or that cannot be granted within its timeout. `leaving` is the number of
   * requests that it replaces. Returns whether it was rejected.
   */
  rejects(request: Request, leaving = 0): boolean {
    const { name, maxQueue, queue, reporter } = this.#parts;
    const { cost, timeout, waiter } = request;
    if (queue.closed) reporter.failed(request, new LimiterClosedError(name));
    else if (timeout > 0 && this.#isFull(leaving) && !this.#makeRoom(waiter, leaving))
      reporter.failed(request, new QueueOverflowError(name, maxQueue));
    else {
      const wait = this.leastWait(cost, timeout, leaving);
      if (wait <= timeout) {
        if (waiter.delayed && !this.mustWait) this.#mayDelay = true;
        return false;
      }
      if (timeout > 0) reporter.queued(cost);
      reporter.denied(request, wait === Infinity ? undefined : wait);
    }
    return true;
  }

  /** The least wait of a new request, as far as known. Infinity if it has to wait for an unknown time. */
  leastWait(cost: Cost, timeout: number, leaving = 0): number {
    if (timeout === Infinity) return 0;
    const { clock, reservations, waitEstimate, hopeless } = this.#parts;
    const now = clock.now();
    if (timeout === 0) return waitEstimate.refusalWait(cost, now);
    const first = reservations.moments.first;
    // A due reservation is granted before any request is refused: it changes the estimate.
    const isDue = first !== undefined && first.due <= now;
    if (leaving > 0 || isDue || this.#changes.inFlight || !this.#calls.knowsLimits) return 0;
    return hopeless.leastWait(cost, timeout, now, this.#calls.current?.sent ?? now);
  }

  /** Whether a request waited when the call in flight was sent: it fails with that call if the store is down. */
  waitsForCall({ order }: Request): boolean {
    return order <= (this.#calls.current?.last ?? 0);
  }

  /** Whether the queue has room for another request even if all requests have to wait. */
  get hasRoom(): boolean {
    const { queue, maxQueue } = this.#parts;
    return !queue.closed && queue.size < maxQueue;
  }

  /** Requests beyond `maxQueue`, except those whose reservation is due. */
  #surplus(): number {
    const { clock, maxQueue, queue, reservations } = this.#parts;
    return queue.size - reservations.moments.countDue(clock.now()) - maxQueue;
  }

  /** Whether the queue is full. Requests count only if they are known to wait, or if the store is slow to reply. */
  #isFull(leaving: number): boolean {
    const { maxQueue, queue } = this.#parts;
    if (queue.size - leaving < maxQueue) return false;
    return this.#calls.isOverdue || (this.mustWait && this.#surplus() >= leaving);
  }

  /** Fails prefetched requests of other waiters while the queue is full. Returns whether there is room now. */
  #makeRoom(waiter: Waiter<unknown>, leaving: number): boolean {
    const { queue, loop } = this.#parts;
    while (this.#isFull(leaving)) {
      const prefetched = queue.newestPrefetched(waiter);
      if (!prefetched) return false;
      this.#overflow(prefetched);
      loop.wake();
    }
    return true;
  }

  #overflow(request: Request): void {
    const { name, maxQueue, reservations } = this.#parts;
    reservations.settle(request, new QueueOverflowError(name, maxQueue));
  }

  /** Fails requests beyond `maxQueue` that turn out to have to wait: prefetched ones first, then the newest. */
  failSurplus(): void {
    const { maxQueue, queue, loop } = this.#parts;
    if (queue.size <= maxQueue || !this.mustWait) return;
    for (let left = this.#surplus(); left > 0 && queue.last; left = this.#surplus()) {
      const request = queue.newestPrefetched() ?? queue.last;
      // The other part stays in its call, and its wait stays known.
      this.#overflow(left < request.count ? queue.splitBack(request, request.count - left) : request);
    }
    if (!queue.settled.isEmpty) loop.repeat();
  }

  /** Runs the `delayed` callbacks once their requests are known to have to wait. */
  reportDelays(): void {
    if (!this.#mayDelay || !this.mustWait) return;
    this.#mayDelay = false;
    const { queue } = this.#parts;
    // A callback may cancel requests.
    for (const waiter of [...queue.waiters.delayListeners]) {
      const newest = queue.waiters.newestOf(waiter);
      if (newest) waiter.delayed!(newest.data);
    }
  }
}
