import type { Cost } from '../limits/cost.ts';
import { eachSegment } from '../stores/segments.ts';
import type { Ledger, ReserveReply } from '../stores/store.ts';
import type { Call } from './gather.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import type { Request } from './request.ts';
import type { Reservation } from './reservation.ts';
import type { Reservations } from './reservations.ts';
import { type LastReserved, leastWait, mostWait, rounding } from './waitBounds.ts';

/** The queue is assessed again at the earliest a millisecond later for each so many requests: this bounds the time it takes. */
const assessedPerMs = 25;

/**
 * Denies requests whose deadline is before their earliest possible grant, as far as this process knows.
 *
 * The requests are assessed in the order of the queue. The assessment of a request counts only the requests in front of it that
 * are granted if it is granted.
 */
export class HopelessRequests {
  readonly #ledger: Ledger;
  readonly #queue: Queue;
  readonly #reservations: Reservations;
  readonly #refunds: Refunds;
  /** When the queue may be assessed again: other clients may have delayed it. */
  #nextRound = 0;
  /** The last reservation, if a bucket's level alone decided its moment; and the version of the refunds then. */
  #drainedBy: Reservation | undefined;
  #version = 0;

  constructor(ledger: Ledger, queue: Queue, reservations: Reservations, refunds: Refunds) {
    this.#ledger = ledger;
    this.#queue = queue;
    this.#reservations = reservations;
    this.#refunds = refunds;
  }

  /** The least wait of a new request. The store may have granted requests since `since` that are not known here. */
  leastWait(cost: Cost, timeout: number, now: number, since: number): number {
    const { last } = this.#reservations.moments;
    const earliest = Math.max(last?.earliestDue ?? 0, since);
    return earliest + this.#leastWait(cost, now + timeout, this.#lastReserved) - now;
  }

  #leastWait(cost: Cost, deadline: number, reserved: LastReserved | undefined): number {
    const { permits } = this.#queue;
    const requests = 1 + permits.peersOf(cost, deadline);
    return leastWait(this.#ledger.limits, cost, requests, permits.certain, reserved);
  }

  /** A request with a deadline is about to join the queue. */
  joining(request: Request, now: number): void {
    const queue = this.#queue;
    const { last } = this.#reservations.moments;
    if (queue.firstUnassessed || !last || last.due <= now) queue.firstUnassessed ??= request;
    else this.#assess(request);
  }

  /** Denies hopeless requests after a reply: among the unassessed ones, or if there are none, now and then among all. */
  deny(now: number, call: Call, reply: ReserveReply): void {
    const queue = this.#queue;
    if (queue.deadlines.next === Infinity) return;
    if (!queue.firstUnassessed) {
      if (now < this.#nextRound) return;
      queue.forgetAssessments();
    }
    const { last } = this.#reservations.moments;
    const isReserved = last !== undefined && last.due > now;
    const earliest = isReserved ? last.earliestDue : call.sent;
    const reserved = isReserved ? this.#lastReserved : grantedAtOnce(call, reply);
    let count = 0;
    for (let request = queue.firstUnassessed; request; request = queue.firstUnassessed) {
      count++;
      const { cost, timeout, deadline } = request;
      if (timeout > 0 && timeout < Infinity) {
        const granted = earliest + this.#leastWait(cost, deadline, reserved);
        if (granted > deadline) {
          queue.settle(request, granted - now);
          continue;
        }
        this.#assess(request);
      }
      queue.countUnassessed();
    }
    this.#nextRound = Math.max(this.#nextRound, now + count / assessedPerMs);
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

  #assess(request: Request): void {
    request.certain = this.#isCertain(request);
    request.peers = request.certain ? undefined : this.#queue.permits.joinPeers(request);
  }

  /** Whether a request will be granted in time behind the assessed ones, if no other client interferes. */
  #isCertain({ cost, count, deadline }: Request): boolean {
    const { limits } = this.#ledger;
    const { last } = this.#reservations.moments;
    if (!last || !this.#isDrained) return false;
    const asked = this.#queue.permits.all[0] + cost[0] * count;
    const roundings = (this.#queue.size + count) * rounding(limits, cost);
    return last.due + mostWait(limits, asked, roundings) <= deadline;
  }

  get #lastReserved(): LastReserved | undefined {
    const { last } = this.#reservations.moments;
    return last && { permits: last.grant.cost.map((n) => n * last.count), drained: this.#isDrained };
  }

  /** Whether the bucket is empty at the moment of the last reservation. A refund may have filled it since. */
  get #isDrained(): boolean {
    const { last } = this.#reservations.moments;
    return last !== undefined && last === this.#drainedBy && this.#version === this.#refunds.version;
  }
}

/** The permits that a reply has granted at once. */
function grantedAtOnce({ runs }: Call, { segments }: ReserveReply): LastReserved {
  const permits: number[] = [];
  eachSegment(runs, segments, ({ cost }, { delay, count }) => {
    for (let i = 0; i < cost.length; i++)
      permits[i] = (permits[i] ?? 0) + (delay === 0 ? cost[i] * count : 0);
  });
  return { permits, drained: false };
}
