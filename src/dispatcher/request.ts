import type { Link } from '../chain.ts';
import type { Heaped } from '../heap.ts';
import type { Cost } from '../limits/cost.ts';
import type { Waiter } from '../port/line.ts';
import type { Block } from './block.ts';

/** The state of a request: not sent, in the call in flight, with a reservation, or no longer in the queue. */
export type Stage = 'queued' | 'sent' | 'reserved' | 'settled';

/** Why a request ended without a grant: an error, or the milliseconds after which to try again, if they are known. */
export type Reason = Error | number | undefined;

/**
 * Requests of one cost, without reservations, that may or may not be granted in time. They count for another request of the
 * cost whose deadline is no later than theirs: it is granted only if all of them are.
 */
export interface Peers {
  readonly cost: Cost;
  /** The earliest of their deadlines. */
  deadline: number;
  /** Number of requests. */
  count: number;
}

/** The most requests with data that one `Request` counts: their data are kept until all have left. */
const mostItems = 1_024;

/**
 * Consecutive requests of one waiter and one cost. They have one deadline, or none; or, as long as all of them are certain and none
 * has been sent, each a deadline of its own. All times are by the monotonic clock.
 */
export class Request implements Link<Request>, Heaped {
  previous: Request | undefined;
  next: Request | undefined;
  /** The requests of the same waiter before and after it. */
  older: Request | undefined;
  newer: Request | undefined;
  stage: Stage = 'queued';
  /** The block of its reservations. */
  block: Block | undefined;
  /** When it is denied: at its deadline, or later while its first reply is on its way. */
  expires: number;
  /** Whether it will be granted in time in any case, unless another client interferes. */
  certain: boolean;
  /** The peers that it counts among, unless it is certain. */
  peers: Peers | undefined;
  /** The place of its first request in the order of arrival. */
  order = 0;
  /** Its index in the heap of deadlines, or -1. */
  heapIndex = -1;
  /** Why it ended, if it was settled without a grant. */
  reason: Reason;
  /** The data of the requests, from `#firstItem` on, if there are several. A part that was split off shares the array. */
  #items: unknown[] | undefined;
  #firstItem = 0;
  /** Their deadlines in the same places, if these differ. */
  deadlines: number[] | undefined;

  constructor(
    readonly waiter: Waiter<unknown>,
    readonly cost: Cost,
    /** Number of requests. */
    public count: number,
    /** Milliseconds that the first that joined may wait. */
    readonly timeout: number,
    /** That of all requests; of several ones, that of the first that joined: none of them is earlier. */
    public deadline: number,
    readonly data: unknown,
  ) {
    this.expires = deadline;
    this.certain = timeout === Infinity;
  }

  /** Its place in the heap of deadlines. */
  get rank(): number {
    return this.expires;
  }

  /** Whether it waits, and not for ever. */
  get mayExpire(): boolean {
    return this.timeout > 0 && this.timeout < Infinity;
  }

  /** The data of one of the requests. */
  dataOf(index: number): unknown {
    return this.#items ? this.#items[this.#firstItem + index] : this.data;
  }

  /** Number of the first ones of several deadlines that have the same. */
  get alike(): number {
    const deadlines = this.deadlines!;
    const first = this.#firstItem;
    let alike = 1;
    while (alike < this.count && deadlines[first + alike] === deadlines[first]) alike++;
    return alike;
  }

  /** Takes the deadline of its requests, which have one. */
  settle(): void {
    this.deadline = this.deadlines![this.#firstItem];
    this.deadlines = undefined;
  }

  /** Adds a request, whose deadline is no earlier. Returns whether there was room for its data. */
  extend(data: unknown, deadline: number): boolean {
    if (data !== undefined || deadline < Infinity) {
      this.#items ??= [this.data];
      if (this.#items.length >= mostItems) return false;
      if (deadline !== this.deadline) this.deadlines ??= this.#items.map(() => this.deadline);
      this.#items.push(data);
      this.deadlines?.push(deadline);
    }
    this.count++;
    return true;
  }

  /** Removes the first of several requests. */
  shift(): void {
    this.count--;
    this.order++;
    if (this.#items) this.#items[this.#firstItem++] = undefined;
  }

  /** Splits off the first `count` requests. */
  splitFront(count: number): Request {
    const front = this.part(count, 0);
    this.count -= count;
    this.order += count;
    this.#firstItem += count;
    return front;
  }

  /** Splits off those behind the first `count` requests. */
  splitBack(count: number): Request {
    const back = this.part(this.count - count, count);
    this.count = count;
    return back;
  }

  /** Not a `#` method: V8 would add a field to each request. */
  private part(count: number, from: number): Request {
    const { waiter, cost, timeout, deadline, data } = this;
    const part = new Request(waiter, cost, count, timeout, deadline, data);
    part.order = this.order + from;
    part.stage = this.stage;
    part.expires = this.expires;
    part.block = this.block;
    part.certain = this.certain;
    part.peers = this.peers;
    part.#items = this.#items;
    part.#firstItem = this.#firstItem + from;
    part.deadlines = this.deadlines;
    return part;
  }
}

const noWaiter: Waiter = { granted() {}, denied() {}, failed() {} };

/** Represents a request that was granted before `ask` returned: there is nothing to cancel. */
export const settledRequest = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ new Request(noWaiter, [], 0, 0, 0, undefined),
  { stage: 'settled' as const },
);
