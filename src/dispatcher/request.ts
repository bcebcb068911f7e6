import type { Link } from '../chain.ts';
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

/** Consecutive requests of one waiter and one cost. All times are by the monotonic clock. */
export class Request implements Link<Request> {
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
  /** Number of calls that had been sent when it joined. */
  callsBefore = 0;
  /** Whether it will be granted in time in any case, unless another client interferes. */
  certain: boolean;
  /** The peers that it counts among, unless it is certain. */
  peers: Peers | undefined;
  /** Its place in the order of arrival. */
  order = 0;
  /** Its index in the heap of deadlines, or -1. */
  heapIndex = -1;
  /** Why it ended, if it was settled without a grant. */
  reason: Reason;

  constructor(
    readonly waiter: Waiter<unknown>,
    readonly cost: Cost,
    /** Number of requests: more than one only if they carry no data. */
    public count: number,
    /** Milliseconds that each may wait. */
    readonly timeout: number,
    readonly deadline: number,
    readonly data: unknown,
  ) {
    this.expires = deadline;
    this.certain = timeout === Infinity;
  }
}

const noWaiter: Waiter = { granted() {}, denied() {}, failed() {} };

/** Represents a request that was granted before `ask` returned: there is nothing to cancel. */
export const settledRequest = /* @__PURE__ */ Object.assign(
  /* @__PURE__ */ new Request(noWaiter, [], 0, 0, 0, undefined),
  { stage: 'settled' as const },
);
