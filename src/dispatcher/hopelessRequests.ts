import { eachSegment } from '../stores/segments.ts';
import type { ReserveReply } from '../stores/store.ts';
import type { Call } from './gather.ts';
import type { Parts } from './parts.ts';
import { addTo } from './queuedPermits.ts';
import type { Peers, Request } from './request.ts';
import { type LastReserved, leastWait } from './waitBounds.ts';
import { joinPeers, peersOf } from './waitEstimate.ts';

/** The queue is walked over again only after a millisecond for each so many requests: walks take a small part of the time. */
const walkedPerMs = 25;

/** The most requests of such a walk. Requests behind them are assessed when they have come forward. */
const mostWalked = 20_000;

/** Denies queued requests that may not wait behind others, or whose deadline is before their earliest possible grant. */
export class HopelessRequests {
  readonly #parts: Parts;
  #nextWalk = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Denies requests after a reply: new requests always, the others now and then. */
  deny(now: number, call: Call, reply: ReserveReply): void {
    const { queue, reservations, waitEstimate } = this.#parts;
    for (const request of queue.immediate) {
      const wait = waitEstimate.refusalWait(request.cost, now);
      // The requests behind it are refused with the next reply, if at all: no walk over a long queue for each.
      if (wait <= 0) break;
      queue.settle(request, wait === Infinity ? undefined : wait);
    }
    if (queue.deadlines.next === Infinity) return;
    if (!queue.firstUnassessed && now < this.#nextWalk) return;
    const { last } = reservations.moments;
    const walked =
      last !== undefined && last.due > now
        ? this.#walk(now, last.earliestDue, waitEstimate.lastReserved)
        : this.#walk(now, call.sent, grantedAtOnce(call, reply));
    this.#nextWalk = Math.max(this.#nextWalk, now + walked / walkedPerMs);
  }

  /**
   * Assesses the requests that have not been assessed, or else those at the head of the queue, and denies the hopeless ones.
   * Returns how many it has seen.
   */
  #walk(now: number, earliest: number, reserved: LastReserved | undefined): number {
    const { ledger, queue, waitEstimate } = this.#parts;
    const fresh = queue.firstUnassessed !== undefined;
    const from = queue.firstUnassessed ?? queue.firstUnreserved;
    const { permits } = queue;
    const certain = permits.certain.map(() => 0);
    const ahead = permits.all.map(() => 0);
    if (from !== queue.firstUnreserved) this.#sumAhead(from, certain, ahead);
    let peers: Peers | undefined;
    let walked = 0;
    // A generator took most of the time of a walk over a long queue.
    let request = from;
    for (let next: Request | undefined; request && (fresh || walked < mostWalked); request = next) {
      next = request.next;
      walked++;
      const { cost, count, timeout, deadline } = request;
      if (timeout > 0 && timeout < Infinity) {
        const requests = 1 + peersOf(cost, deadline, peers);
        const granted = earliest + leastWait(ledger.limits, cost, requests, certain, reserved);
        if (granted > deadline) {
          queue.settle(request, granted - now);
          continue;
        }
        const isCertain = waitEstimate.isCertain(request, ahead);
        if (!isCertain) peers = joinPeers(request, peers);
        if (!isCertain || !request.certain) permits.assess(request, isCertain, isCertain ? undefined : peers);
      }
      addTo(ahead, cost, count);
      if (request.certain) addTo(certain, cost, count);
    }
    if (!request) permits.peers = peers;
    queue.firstUnassessed = undefined;
    return walked;
  }

  /** Sums the permits of the requests in front of one: those of the whole queue, less those from it on. */
  #sumAhead(from: Request | undefined, certain: number[], ahead: number[]): void {
    const { permits } = this.#parts.queue;
    addTo(ahead, permits.all, 1);
    addTo(certain, permits.certain, 1);
    for (let request = from; request; request = request.next) {
      addTo(ahead, request.cost, -request.count);
      if (request.certain) addTo(certain, request.cost, -request.count);
    }
  }
}

/** What a reply has granted at once. */
function grantedAtOnce({ runs }: Call, { segments }: ReserveReply): LastReserved {
  const permits: number[] = [];
  eachSegment(runs, segments, ({ cost }, { delay, count }) => {
    for (let i = 0; i < cost.length; i++)
      permits[i] = (permits[i] ?? 0) + (delay === 0 ? cost[i] * count : 0);
  });
  return { permits, drained: false };
}
