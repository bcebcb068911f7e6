import { Chain } from '../chain.ts';
import { type Cost, sameCost } from '../limits/cost.ts';
import type { Waiter } from '../port/line.ts';
import { Deadlines } from './deadlines.ts';
import { type Peers, type Reason, Request } from './request.ts';
import { SettledQueue } from './settledQueue.ts';
import { WaiterIndex } from './waiterIndex.ts';

/** The waiting requests in the order of arrival. Requests with reservations come first. */
export class Queue {
  readonly #list = new Chain<Request>();
  readonly deadlines = new Deadlines();
  readonly settled = new SettledQueue();
  readonly waiters = new WaiterIndex();
  firstUnreserved: Request | undefined;
  /** Number of requests. */
  size = 0;
  #added = 0;
  /** Requests that may not wait, and are not sent. */
  readonly immediate = new Set<Request>();
  /** Requests whose expiry is delayed until their first reply. */
  readonly unanswered = new Set<Request>();
  /** The first request that joined, or was requeued, while nothing was known of its wait. */
  firstUnassessed: Request | undefined;
  /** Permits of each limit that requests without reservations ask for, and of those the ones of requests that are certain. */
  readonly queuedPermits: number[];
  readonly certainPermits: number[];
  /** The peers of the last request that is not certain. */
  peers: Peers | undefined;

  constructor(limits: number) {
    this.certainPermits = new Array(limits).fill(0);
    this.queuedPermits = new Array(limits).fill(0);
  }

  get first(): Request | undefined {
    return this.#list.first;
  }

  get last(): Request | undefined {
    return this.#list.last;
  }

  /** A prefetched request, the newest of its waiter. A waiter that prefetches itself (`asking`) cannot have it replaced. */
  newestPrefetched(asking?: Waiter<unknown>): Request | undefined {
    if (asking && this.waiters.prefetching.has(asking)) return undefined;
    for (const waiter of this.waiters.prefetching) {
      const newest = this.waiters.newestOf(waiter)!;
      if (newest.count > 1) this.splitFront(newest, newest.count - 1);
      if (newest.older) return newest;
    }
    return undefined;
  }

  add(request: Request): void {
    request.order = ++this.#added;
    this.#list.add(request);
    if (request.waiter.cancelsAll)
      this.waiters.link(request, this.waiters.newestOf(request.waiter), undefined);
    this.firstUnreserved ??= request;
    this.size += request.count;
    this.#sum(request, request.count);
    if (request.timeout === 0) this.immediate.add(request);
  }

  /** Adds one request to the last request, if that is of the same waiter and cost and not sent. Returns whether it did. */
  extend(waiter: Waiter<unknown>, cost: Cost): boolean {
    const { last } = this.#list;
    if (last?.stage !== 'queued' || last.waiter !== waiter || !sameCost(last.cost, cost)) return false;
    last.count++;
    this.size++;
    this.#sum(last, 1);
    return true;
  }

  remove(request: Request): void {
    if (request.stage !== 'reserved') {
      this.#sum(request, -request.count);
      this.#leaveUnreserved(request);
    } else this.deadlines.remove(request);
    this.#list.remove(request);
    request.stage = 'settled';
    if (request.waiter.cancelsAll) this.waiters.unlink(request);
    this.size -= request.count;
  }

  /** Removes one request from the first one. */
  removeOne(request: Request): void {
    if (request.count === 1) {
      this.remove(request);
      return;
    }
    request.count--;
    this.size--;
  }

  /** Removes a request without a reservation, and ends it without a grant. */
  settle(request: Request, reason: Reason): void {
    this.remove(request);
    this.settled.add(request, reason);
  }

  /** A reply covers the requests that joined before `calls` calls had been sent: they expire at their deadlines now. */
  answered(calls: number): void {
    for (const request of this.unanswered) {
      // The set is in the order of joining.
      if (request.callsBefore >= calls) return;
      this.unanswered.delete(request);
      this.deadlines.move(request, request.deadline);
    }
  }

  markSent(request: Request): void {
    if (request.timeout === 0) this.immediate.delete(request);
    request.stage = 'sent';
  }

  requeue(request: Request): void {
    if (request.timeout === 0) this.immediate.add(request);
    request.stage = 'queued';
    request.block = undefined;
  }

  /** Marks the first request without a reservation, or at most `count` of it, as reserved. Returns what it has marked. */
  reserve(count: number): Request {
    const first = this.firstUnreserved!;
    const request = count < first.count ? this.splitFront(first, count) : first;
    this.#sum(request, -request.count);
    this.#leaveUnreserved(request);
    request.stage = 'reserved';
    request.expires = request.deadline;
    return request;
  }

  #leaveUnreserved(request: Request): void {
    if (request.timeout === 0) this.immediate.delete(request);
    if (request === this.firstUnreserved) this.firstUnreserved = request.next;
    if (request === this.firstUnassessed) this.firstUnassessed = request.next;
    this.deadlines.remove(request);
    this.unanswered.delete(request);
  }

  /** Lets requests with reservations expire too: a pause delays their moments. */
  watchReserved(): void {
    for (const request of this.requests()) {
      if (request.stage !== 'reserved') return;
      this.#watch(request);
    }
  }

  #watch(request: Request): void {
    if (request.timeout > 0 && request.deadline < Infinity && request.heapIndex < 0)
      this.deadlines.add(request);
  }

  /** The last `count` requests with reservations lose them, and keep their places. */
  requeueLast(count: number): void {
    let request = this.firstUnreserved ? this.firstUnreserved.previous : this.#list.last;
    for (let left = count; left > 0 && request; request = request.previous) {
      if (left < request.count) this.splitFront(request, request.count - left);
      left -= request.count;
      this.requeue(request);
      this.firstUnreserved = request;
      request.certain = request.timeout === Infinity;
      request.peers = undefined;
      this.#watch(request);
      this.#sum(request, request.count);
    }
    this.firstUnassessed = this.firstUnreserved;
  }

  /** Records that a request without a reservation is certain to be granted, or counts among some peers. */
  assess(request: Request, certain: boolean, peers: Peers | undefined): void {
    this.#sum(request, -request.count);
    request.certain = certain;
    request.peers = peers;
    this.#sum(request, request.count);
  }

  /** Splits a request in two. Returns the first, which has `count` of its requests. */
  splitFront(request: Request, count: number): Request {
    const { waiter, cost, timeout, deadline, data } = request;
    const front = new Request(waiter, cost, count, timeout, deadline, data);
    front.order = request.order;
    front.stage = request.stage;
    front.block = request.block;
    front.certain = request.certain;
    front.peers = request.peers;
    request.count -= count;
    this.#list.add(front, request);
    if (waiter.cancelsAll) this.waiters.link(front, request.older, request);
    if (request === this.firstUnreserved) this.firstUnreserved = front;
    if (request === this.firstUnassessed) this.firstUnassessed = front;
    if (this.immediate.has(request)) this.immediate.add(front);
    return front;
  }

  /** The requests from one on, or all. Each may be removed while it is visited. */
  *requests(from = this.#list.first): Generator<Request> {
    for (let request = from; request; ) {
      const { next } = request;
      yield request;
      request = next;
    }
  }

  #sum({ cost, certain, peers }: Request, count: number): void {
    if (peers) peers.count += count;
    for (let i = 0; i < cost.length; i++) {
      this.queuedPermits[i] += cost[i] * count;
      if (certain) this.certainPermits[i] += cost[i] * count;
    }
  }
}
