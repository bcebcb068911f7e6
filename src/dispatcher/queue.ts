import type { Cost } from '../limits/cost.ts';
import { sameCost } from '../limits/cost.ts';
import type { Waiter } from '../port/line.ts';
import { Chain } from './chain.ts';
import { Deadlines } from './deadlines.ts';
import { type Peers, Request } from './request.ts';
import { SettledQueue } from './settledQueue.ts';

/** All requests that wait, in the order in which they came: those at the head are booked, the others not yet. */
export class Queue {
  readonly #list = new Chain<Request>();
  readonly deadlines = new Deadlines();
  readonly settled = new SettledQueue();
  /** The newest request of each waiter that leaves with all it has. */
  readonly #newest = new Map<Waiter<unknown>, Request>();
  /** Of those waiters, the ones that hear when they have to wait, and the ones that give way. */
  readonly bounded = new Set<Waiter<unknown>>();
  readonly #givingWay = new Set<Waiter<unknown>>();
  /** The first request that is not booked. */
  unbooked: Request | undefined;
  /** Requests. */
  waiting = 0;
  /** Entries that will not wait, and are not sent. */
  readonly hasty = new Set<Request>();
  /** Entries that are not refused at their deadline, as no answer has come that could have granted them. */
  readonly unanswered = new Set<Request>();
  /** The first request that joined, or was un-booked, when nothing was known of its wait: it and those behind are not judged. */
  unjudged: Request | undefined;
  /** Permits that those ask of each limit who are not booked, and are sure to be served. */
  readonly asked: number[];
  /** Permits that all ask of each limit who are not booked. */
  readonly wanted: number[];
  /** The last of those who are not sure. */
  peers: Peers | undefined;

  constructor(limits: number) {
    this.asked = new Array(limits).fill(0);
    this.wanted = new Array(limits).fill(0);
  }

  get first(): Request | undefined {
    return this.#list.first;
  }

  get last(): Request | undefined {
    return this.#list.last;
  }

  /** An request of one request that was asked ahead, the newest of its waiter; of no use to a waiter that has one itself. */
  askedAhead(instead?: Waiter<unknown>): Request | undefined {
    if (instead && this.#givingWay.has(instead)) return undefined;
    for (const waiter of this.#givingWay) {
      const newest = this.#newest.get(waiter)!;
      if (newest.count > 1) this.splitFront(newest, newest.count - 1);
      if (newest.older) return newest;
    }
    return undefined;
  }

  newestOf(waiter: Waiter<unknown>): Request | undefined {
    return this.#newest.get(waiter);
  }

  join(request: Request): void {
    this.#list.append(request);
    if (request.waiter.cancelsAll) this.#chain(request, this.#newest.get(request.waiter), undefined);
    this.unbooked ??= request;
    this.waiting += request.count;
    this.#ask(request, request.count);
    if (request.timeout === 0) this.hasty.add(request);
  }

  /** Adds one request to the last request, if that is of the same waiter and asks for the same. */
  extend(waiter: Waiter<unknown>, cost: Cost): boolean {
    const { last } = this.#list;
    if (last?.stage !== 'queued' || last.waiter !== waiter || !sameCost(last.cost, cost)) return false;
    last.count++;
    this.waiting++;
    this.#ask(last, 1);
    return true;
  }

  leave(request: Request): void {
    if (request.stage !== 'booked') this.#ask(request, -request.count);
    if (request.timeout === 0) this.hasty.delete(request);
    if (request === this.unbooked) this.unbooked = request.next;
    if (request === this.unjudged) this.unjudged = request.next;
    this.deadlines.remove(request);
    this.unanswered.delete(request);
    this.#list.remove(request);
    request.stage = 'gone';
    if (request.waiter.cancelsAll) this.#unchain(request);
    this.waiting -= request.count;
  }

  /** One request of the first request has been granted. */
  leaveOne(request: Request): void {
    if (request.count === 1) {
      this.leave(request);
      return;
    }
    request.count--;
    this.waiting--;
  }

  /** An answer has come for those who joined before so many calls had been sent: from now on only their deadline counts. */
  answered(calls: number): void {
    for (const request of this.unanswered) {
      // Later ones joined no earlier.
      if (request.calls >= calls) return;
      this.unanswered.delete(request);
      this.deadlines.move(request, request.deadline);
    }
  }

  late(request: Request, retryAfter?: number): void {
    this.leave(request);
    this.settled.late(request, retryAfter);
  }

  refuse(request: Request, error: Error): void {
    this.leave(request);
    this.settled.refused(request, error);
  }

  send(request: Request): void {
    if (request.timeout === 0) this.hasty.delete(request);
    request.stage = 'sent';
  }

  requeue(request: Request): void {
    if (request.timeout === 0) this.hasty.add(request);
    request.stage = 'queued';
    request.block = undefined;
  }

  /** Books at most `count` requests of the first request that is not booked, and says which. */
  book(count: number): Request {
    const first = this.unbooked!;
    const request = count < first.count ? this.splitFront(first, count) : first;
    if (request.timeout === 0) this.hasty.delete(request);
    request.stage = 'booked';
    this.unbooked = request.next;
    if (request === this.unjudged) this.unjudged = request.next;
    this.deadlines.remove(request);
    this.unanswered.delete(request);
    request.expires = request.deadline;
    this.#ask(request, -request.count);
    return request;
  }

  /** Those who are booked may run out of time, too: their moments are held up. */
  watchBooked(): void {
    for (const request of this.requests()) {
      if (request.stage !== 'booked') return;
      if (request.timeout > 0 && request.deadline < Infinity && request.place < 0)
        this.deadlines.add(request);
    }
  }

  /** The last `count` booked requests are booked no more: they stay where they are in the line. */
  unbook(count: number): void {
    let request = this.unbooked ? this.unbooked.previous : this.#list.last;
    for (let left = count; left > 0 && request; request = request.previous) {
      if (left < request.count) this.splitFront(request, request.count - left);
      left -= request.count;
      this.requeue(request);
      this.unbooked = request;
      request.sure = request.timeout === Infinity;
      request.peers = undefined;
      if (request.timeout > 0 && request.deadline < Infinity && request.place < 0)
        this.deadlines.add(request);
      this.#ask(request, request.count);
    }
    this.unjudged = this.unbooked;
  }

  /** Takes an request that is not booked to be sure, or one of some peers. */
  judge(request: Request, sure: boolean, peers: Peers | undefined): void {
    this.#ask(request, -request.count);
    request.sure = sure;
    request.peers = peers;
    this.#ask(request, request.count);
  }

  /** Puts the first `count` requests of an request into one of their own, in front of the rest. */
  splitFront(request: Request, count: number): Request {
    const { waiter, cost, timeout, deadline, data } = request;
    const front = new Request(waiter, cost, count, timeout, deadline, data);
    front.stage = request.stage;
    front.block = request.block;
    front.sure = request.sure;
    front.peers = request.peers;
    request.count -= count;
    this.#list.insertBefore(front, request);
    if (waiter.cancelsAll) this.#chain(front, request.older, request);
    if (request === this.unbooked) this.unbooked = front;
    if (request === this.unjudged) this.unjudged = front;
    if (this.hasty.has(request)) this.hasty.add(front);
    return front;
  }

  /** The requests from one on, the first by default; each may leave while it is looked at. */
  *requests(from = this.#list.first): Generator<Request> {
    for (let request = from; request; ) {
      const { next } = request;
      yield request;
      request = next;
    }
  }

  /** Puts an request between two of its waiter's, so that a waiter can leave without a look at the whole line. */
  #chain(request: Request, older: Request | undefined, newer: Request | undefined): void {
    request.older = older;
    request.newer = newer;
    if (older) older.newer = request;
    if (newer) newer.older = request;
    else {
      this.#newest.set(request.waiter, request);
      if (request.waiter.delayed) this.bounded.add(request.waiter);
      if (request.waiter.prefetches) this.#givingWay.add(request.waiter);
    }
  }

  #unchain(request: Request): void {
    const { waiter, older, newer } = request;
    if (older) older.newer = newer;
    if (newer) newer.older = older;
    else if (older) this.#newest.set(waiter, older);
    else {
      this.#newest.delete(waiter);
      this.bounded.delete(waiter);
      this.#givingWay.delete(waiter);
    }
    request.older = undefined;
    request.newer = undefined;
  }

  #ask({ cost, sure, peers }: Request, count: number): void {
    if (peers) peers.count += count;
    for (let i = 0; i < cost.length; i++) {
      this.wanted[i] += cost[i] * count;
      if (sure) this.asked[i] += cost[i] * count;
    }
  }
}
