import { type Cost, sameCost } from '../limits/cost.ts';
import { exceeds } from '../limits/limit.ts';
import type { Ledger, ReserveReply } from '../stores/store.ts';
import type { Call } from './gather.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import type { Peers, Request } from './request.ts';
import type { Reservation } from './reservation.ts';
import type { Reservations } from './reservations.ts';
import { type LastReserved, leastWait, mostWait, rounding } from './waitBounds.ts';

/** The last refusal of a request that may not wait. A request that costs no less is refused without a call meanwhile. */
interface Refusal {
  cost: Cost;
  retryAfter: number;
  at: number;
  until: number;
  /** Version of the refunds: permits may have become available since. */
  version: number;
}

/** Bounds of the wait of requests, as far as they are known without a call. */
export class WaitEstimate {
  readonly #ledger: Ledger;
  readonly #queue: Queue;
  readonly #reservations: Reservations;
  readonly #refunds: Refunds;
  #retryAt = 0;
  /** The first request without a reservation when `retryAt` was set. */
  #retries: Request | undefined;
  #refusal: Refusal | undefined;
  /** The last reservation, if a bucket's level alone decided its moment; and the version of the refunds then. */
  #drainedBy: Reservation | undefined;
  #version = 0;

  constructor(ledger: Ledger, queue: Queue, reservations: Reservations, refunds: Refunds) {
    this.#ledger = ledger;
    this.#queue = queue;
    this.#reservations = reservations;
    this.#refunds = refunds;
  }

  /** When a store that cannot reserve is called again, for the same first request: another one is sent at once. */
  get retryAt(): number {
    return this.#retries === this.#queue.firstUnreserved ? this.#retryAt : 0;
  }

  set retryAt(time: number) {
    this.#retryAt = time;
    this.#retries = this.#queue.firstUnreserved;
  }

  /** Whether some queued request is known to have to wait. */
  mustWait(now: number): boolean {
    const { last } = this.#reservations.moments;
    return (
      (last !== undefined && last.due > now) ||
      (this.#queue.firstUnreserved !== undefined && this.retryAt > now)
    );
  }

  /** The wait of a new request that may not wait: 0 if it has to be sent, Infinity if the time is not known. */
  refusalWait(cost: Cost, now: number): number {
    if (this.mustWait(now)) return Infinity;
    const refusal = this.#refusal;
    if (!refusal || refusal.version !== this.#refunds.version || now >= refusal.until) return 0;
    const { retryAfter, at } = refusal;
    const isSmaller = cost.some((n, i) => n < refusal.cost[i]);
    // Whether the limit can ever grant the cost is for the store to say.
    return isSmaller || exceeds(this.#ledger.limits, cost) ? 0 : retryAfter - (now - at);
  }

  /** The store has refused a cost at `at`: this is remembered for `ms` milliseconds. */
  refused(cost: Cost, retryAfter: number, at: number, ms: number, version: number): void {
    if (version === this.#refunds.version) this.#refusal = { cost, retryAfter, at, until: at + ms, version };
  }

  /** The least wait of a new request. The store may have granted requests since `since` that are not known here. */
  leastWait(cost: Cost, timeout: number, now: number, since: number): number {
    const { firstUnassessed, permits } = this.#queue;
    const { last } = this.#reservations.moments;
    const requests = 1 + (firstUnassessed ? 0 : peersOf(cost, now + timeout, permits.peers));
    const wait = leastWait(this.#ledger.limits, cost, requests, permits.certain, this.lastReserved);
    return Math.max(last?.earliestDue ?? 0, since) + wait - now;
  }

  /** Assesses a request with a deadline before it joins the queue. */
  assess(request: Request, now: number): void {
    const queue = this.#queue;
    const { permits } = queue;
    const { last } = this.#reservations.moments;
    if (queue.firstUnassessed || !last || last.due <= now) {
      queue.firstUnassessed ??= request;
      return;
    }
    request.certain = this.isCertain(request, permits.all);
    if (!request.certain) permits.peers = request.peers = joinPeers(request, permits.peers);
  }

  /** Whether a request will be granted in time behind requests of so many permits, if no other client interferes. */
  isCertain({ cost, count, deadline }: Request, ahead: readonly number[]): boolean {
    const { limits } = this.#ledger;
    const { last } = this.#reservations.moments;
    if (!last || !this.#isDrained) return false;
    const roundings = (this.#queue.size + count) * rounding(limits, cost);
    return last.due + mostWait(limits, ahead[0] + cost[0] * count, roundings) <= deadline;
  }

  /** A reply has made reservations. */
  reserved({ now, paused = 0 }: ReserveReply, { sent, version }: Call): void {
    const { limits } = this.#ledger;
    const { last } = this.#reservations.moments;
    const isBucket = limits.length === 1 && limits[0].kind === 'tokenBucket';
    const waits = last && last.earliestDue > sent && last.grant.moment > now + paused + 1;
    this.#drainedBy = isBucket && waits ? last : undefined;
    this.#version = version;
  }

  get lastReserved(): LastReserved | undefined {
    const { last } = this.#reservations.moments;
    return last && { permits: last.grant.cost.map((n) => n * last.count), drained: this.#isDrained };
  }

  /** Whether the bucket is empty at the moment of the last reservation. A refund may have filled it since. */
  get #isDrained(): boolean {
    const { last } = this.#reservations.moments;
    return last !== undefined && last === this.#drainedBy && this.#version === this.#refunds.version;
  }
}

/** The number of peers that are granted before a request, if it is granted. */
export function peersOf(cost: Cost, deadline: number, peers: Peers | undefined): number {
  return peers && isPeer(cost, deadline, peers) ? peers.count : 0;
}

/** Whether these are the peers of a request. Deadlines within one millisecond are equal, since moments are whole. */
function isPeer(cost: Cost, deadline: number, peers: Peers): boolean {
  return sameCost(cost, peers.cost) && deadline < peers.deadline + 1;
}

export function joinPeers({ cost, deadline }: Request, peers: Peers | undefined): Peers {
  if (!peers || !isPeer(cost, deadline, peers)) return { cost, deadline, count: 0 };
  peers.deadline = Math.min(peers.deadline, deadline);
  return peers;
}
