import { Chain } from '../chain.ts';
import { type Cost, sameCost } from '../limits/cost.ts';
import type { Waiter } from '../port/line.ts';
import { Deadlines } from './deadlines.ts';
import { QueuedPermits } from './queuedPermits.ts';
import type { Reason, Request } from './request.ts';
import { SettledQueue } from './settledQueue.ts';
import { WaiterIndex } from './waiterIndex.ts';

/** The waiting requests in the order of arrival. Requests with reservations come first. */
export class Queue {
  readonly #list = new Chain<Request>();
  readonly deadlines = new Deadlines();
  readonly settled = new SettledQueue();
  readonly waiters = new WaiterIndex();
  readonly permits: QueuedPermits;
  firstUnreserved: Request | undefined;
  /** The first request that has not been assessed: nothing was known of its wait when it joined. */
  firstUnassessed: Request | undefined;
  /** Requests that may not wait, and have no reservation. */
  readonly immediate = new Set<Request>();
  /** Number of requests. */
  size = 0;
  /** The order of the newest request that has joined. */
  order = 0;
  /** Whether new requests are refused. */
  closed = false;

  constructor(limits: number) {
    this.permits = new QueuedPermits(limits);
  }

  get first(): Request | undefined {
    return this.#list.first;
  }

  get last(): Request | undefined {
    return this.#list.last;
  }

  /** A prefetched request, the newest of its waiter. None if the waiter `asking` for room prefetches itself. */
  newestPrefetched(asking?: Waiter<unknown>): Request | undefined {
    const { waiters } = this;
    if (asking?.prefetches && waiters.newestOf(asking)) return undefined;
    for (const waiter of waiters.prefetching) {
      const newest = waiters.newestOf(waiter)!;
      if (newest.count > 1) return this.splitBack(newest, newest.count - 1);
      if (newest.older) return newest;
      waiters.prefetching.delete(waiter);
    }
    return undefined;
  }

  add(request: Request): void {
    request.order = ++this.order;
    this.#list.add(request);
    if (request.waiter.cancelsAll)
      this.waiters.link(request, this.waiters.newestOf(request.waiter), undefined);
    this.firstUnreserved ??= request;
    this.permits.joined(request.cost, this.size === 0);
    this.size += request.count;
    this.#count(request, request.count);
    if (request.timeout === 0) this.immediate.add(request);
  }

  /** The last request, if that is of this waiter and cost, and not sent: another one may be counted in it. */
  lastLike(waiter: Waiter<unknown>, cost: Cost): Request | undefined {
    const { last } = this.#list;
    // One whose first reply is on its way may expire later than at its deadline.
    const isLike = last?.stage === 'queued' && last.waiter === waiter && last.expires === last.deadline;
    return isLike && sameCost(last.cost, cost) ? last : undefined;
  }

  /** Counts one more request in the last one, if there is room for its data. Returns whether it did. */
  extend(last: Request, data: unknown, deadline: number): boolean {
    // The place after its last request may be that of a part that was split off and has left.
    if (last.order + last.count <= this.order || !last.extend(data, deadline)) return false;
    this.order++;
    this.size++;
    this.#count(last, 1);
    this.waiters.grew(last.waiter);
    return true;
  }

  remove(request: Request): void {
    if (request.stage === 'reserved') this.deadlines.remove(request);
    else this.#leaveUnreserved(request);
    this.#list.remove(request);
    request.stage = 'settled';
    if (request.waiter.cancelsAll) this.waiters.unlink(request);
    this.size -= request.count;
  }

  /** Removes the first of the requests that one `Request` counts. */
  removeOne(request: Request): void {
    if (request.count === 1) this.remove(request);
    else {
      request.shift();
      this.size--;
    }
  }

  /** Removes a request, and ends it without a grant. The caller refunds its reservation, if any. */
  settle(request: Request, reason: Reason): void {
    this.remove(request);
    this.settled.add(request, reason);
  }

  requeue(request: Request): void {
    if (request.timeout === 0) this.immediate.add(request);
    request.stage = 'queued';
    request.block = undefined;
  }

  /** Marks the first request without a reservation, or at most `count` of it, as reserved. Returns the marked part. */
  reserve(count: number): Request {
    const request = this.splitFront(this.firstUnreserved!, count);
    this.#leaveUnreserved(request);
    request.stage = 'reserved';
    request.expires = request.deadline;
    return request;
  }

  #leaveUnreserved(request: Request): void {
    this.#count(request, -request.count);
    if (request.timeout === 0) this.immediate.delete(request);
    if (request === this.firstUnreserved) this.firstUnreserved = request.next;
    if (request === this.firstUnassessed) this.firstUnassessed = request.next;
    this.deadlines.remove(request);
  }

  /** Lets requests with reservations expire too, at `least` or later: their moments are delayed. */
  watchReserved(least = 0): void {
    for (const request of this.requests()) {
      if (request.stage !== 'reserved') return;
      if (request.expires < least) {
        this.deadlines.remove(request);
        request.expires = least;
      }
      this.deadlines.add(request);
    }
  }

  /** The last `count` requests with reservations lose them, and keep their places. */
  requeueLast(count: number): void {
    let request = this.firstUnreserved ? this.firstUnreserved.previous : this.#list.last;
    for (let left = count; left > 0 && request; request = request.previous) {
      if (left < request.count) this.splitFront(request, request.count - left);
      left -= request.count;
      this.requeue(request);
      this.firstUnreserved = request;
      this.deadlines.add(request);
    }
    this.forgetAssessments();
  }

  /** Causes all requests without reservations to be assessed again. */
  forgetAssessments(): void {
    this.permits.clear();
    this.firstUnassessed = this.firstUnreserved;
    // The requests without a deadline in front of all others need no assessment.
    while (this.firstUnassessed?.timeout === Infinity) this.countUnassessed();
  }

  /** Marks the first unassessed request as assessed, and counts its permits. */
  countUnassessed(): void {
    const request = this.firstUnassessed!;
    this.permits.add(request, request.count);
    this.firstUnassessed = request.next;
  }

  /** Counts `count` requests like this one, which have joined or, if negative, left. Unassessed requests do not count. */
  #count(request: Request, count: number): void {
    const { firstUnassessed } = this;
    if (!firstUnassessed || request.order < firstUnassessed.order) this.permits.add(request, count);
  }

  /** Splits a request in two, unless it has no more than `count` requests. Returns the first, which has at most so many. */
  splitFront(request: Request, count: number): Request {
    if (count >= request.count) return request;
    const front = request.splitFront(count);
    this.#list.add(front, request);
    if (request.waiter.cancelsAll) this.waiters.link(front, request.older, request);
    if (request === this.firstUnreserved) this.firstUnreserved = front;
    if (request === this.firstUnassessed) this.firstUnassessed = front;
    if (request.heapIndex >= 0) this.deadlines.add(front);
    return front;
  }

  /** Splits a request in two after its first `count` requests. Returns the second. */
  splitBack(request: Request, count: number): Request {
    const back = request.splitBack(count);
    this.#list.add(back, request.next);
    if (request.waiter.cancelsAll) this.waiters.link(back, request, request.newer);
    if (request.heapIndex >= 0) this.deadlines.add(back);
    return back;
  }

  /** Splits requests of several deadlines after the first ones that have one deadline. */
  split(request: Request): void {
    if (!request.deadlines) return;
    const { alike } = request;
    if (alike < request.count) this.splitBack(request, alike);
    this.deadlines.remove(request);
    request.settle();
    request.expires = request.deadline;
    this.deadlines.add(request);
  }

  /** The requests in their order. Each may be removed while it is visited. */
  *requests(): Generator<Request> {
    for (let request = this.#list.first; request; ) {
      const { next } = request;
      yield request;
      request = next;
    }
  }
}
