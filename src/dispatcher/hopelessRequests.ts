import type { Cost } from '../limits/cost.ts';
import { eachSegment } from '../stores/segments.ts';
import type { ReserveReply } from '../stores/store.ts';
import type { Call } from './gather.ts';
import type { GrantBounds } from './grantBounds.ts';
import type { Queue } from './queue.ts';
import type { Request } from './request.ts';

/** The queue is assessed again at the earliest a millisecond later for each so many requests: this bounds the time it takes. */
const assessedPerMs = 25;

/**
 * Denies requests whose deadline is before their earliest possible grant, as far as this process knows.
 *
 * The requests are assessed in the order of the queue. The assessment of a request counts only the requests in front of it that
 * are granted if it is granted.
 */
export class HopelessRequests {
  readonly #queue: Queue;
  readonly #bounds: GrantBounds;
  /** When the queue may be assessed again: other clients may have delayed it. */
  #nextRound = 0;
  /** Whether requests had reservations when the queue was last assessed. More is known of the moments then. */
  #knew = true;
  /** Whether they have some now, but had none then. */
  #knowsMore = false;

  constructor(queue: Queue, bounds: GrantBounds) {
    this.#queue = queue;
    this.#bounds = bounds;
  }

  /** When the queue is assessed again although there may be no reply. */
  get next(): number {
    return this.#knowsMore && this.#queue.deadlines.next < Infinity ? this.#nextRound : Infinity;
  }

  /** The least wait of a new request. The store may have granted requests since `since` that are not known here. */
  leastWait(cost: Cost, timeout: number, now: number, since: number): number {
    const request = { cost, deadline: now + timeout };
    const least = this.#bounds.least(request, 1, now, since);
    return least > request.deadline && this.#bounds.isFree(request, 1, now) ? 0 : least - now;
  }

  /** A request with a deadline is about to join the queue. */
  joining(request: Request, now: number): void {
    const queue = this.#queue;
    if (queue.firstUnassessed || !this.#bounds.lastReserved(now)) queue.firstUnassessed ??= request;
    else this.#assess(request, now);
  }

  /**
   * Whether a request like the last one, with this deadline, would be assessed like it. Undefined if it would unless it is hopeless.
   */
  joinsLike(last: Request, deadline: number, now: number): boolean | undefined {
    const queue = this.#queue;
    const isAlike = deadline === last.deadline;
    if (deadline === Infinity || queue.firstUnassessed) return isAlike;
    if (deadline < last.deadline || !this.#bounds.lastReserved(now)) return false;
    if (this.#bounds.isCertain({ cost: last.cost, deadline }, 1, now)) return last.certain;
    return isAlike && queue.permits.hasPeers(last) ? undefined : false;
  }

  /** A reply has made reservations. */
  reserved(reply: ReserveReply, call: Call): void {
    this.#bounds.reserved(reply, call);
    this.#knowsMore = !this.#knew;
  }

  /**
   * Denies hopeless requests after a reply: among the unassessed ones, or if there are none, now and then among all. Permits that
   * were granted at once may have been refunded already if the refunds have changed since the call was sent.
   */
  deny(now: number, call: Call, reply: ReserveReply, version: number): void {
    const queue = this.#queue;
    this.#bounds.replied(reply, now);
    if (queue.deadlines.next === Infinity) return;
    if (queue.firstUnassessed || now >= this.#nextRound)
      this.#round(now, call.sent, call.version === version ? grantedAtOnce(call, reply) : []);
  }

  /** Denies hopeless requests if more is known now. */
  run(now: number): void {
    if (now < this.next) return;
    if (this.#bounds.lastReserved(now)) this.#round(now, 0, []);
    else this.#knowsMore = false;
  }

  /** Denies hopeless requests. Without reservations, the store has granted these permits at `since` or later. */
  #round(now: number, since: number, granted: readonly number[]): void {
    const queue = this.#queue;
    this.#knew = this.#bounds.lastReserved(now) !== undefined;
    this.#knowsMore = false;
    const from = this.#knew ? 0 : since;
    if (!queue.firstUnassessed) {
      if (this.#bounds.areAllCertain(now, from, granted)) return;
      queue.forgetAssessments();
    }
    let count = 0;
    for (let request = queue.firstUnassessed; request; request = queue.firstUnassessed) {
      if (request.mayExpire) {
        if (request.deadlines && !this.#bounds.isCertain(request, request.count, now)) queue.split(request);
        const least = (n: number) => this.#bounds.least(request, n, now, from, granted);
        const viable = mostOf(request.count, (n) => least(n) <= request.deadline);
        if (viable < request.count) {
          const hopeless = viable > 0 ? queue.splitBack(request, viable) : request;
          count += hopeless.count;
          // Its deadline may be past: it is denied only now that its first reply has come.
          queue.settle(hopeless, Math.max(0, least(viable + 1) - now));
          if (hopeless === request) continue;
        }
        this.#assess(request, now);
      }
      count += request.count;
      queue.countUnassessed();
    }
    this.#nextRound = Math.max(this.#nextRound, now + count / assessedPerMs);
  }

  /** Assesses a request, or the part of it that is certain. */
  #assess(request: Request, now: number): void {
    const certain = mostOf(request.count, (n) => this.#bounds.isCertain(request, n, now));
    // The reply to a call has to find all its requests.
    const isSplit = certain > 0 && certain < request.count && request.stage !== 'sent';
    if (isSplit) this.#queue.splitBack(request, certain);
    request.certain = certain >= request.count;
    request.peers = request.certain ? undefined : this.#queue.permits.joinPeers(request);
  }
}

/** The most of `count` requests, from the first on, for which this holds: if it holds for some, it holds for fewer. */
function mostOf(count: number, holds: (count: number) => boolean): number {
  if (holds(count)) return count;
  let most = 0;
  for (let tooMany = count; tooMany - most > 1; ) {
    const middle = (most + tooMany) >> 1;
    if (holds(middle)) most = middle;
    else tooMany = middle;
  }
  return most;
}

/** The permits that a reply has granted at once to the requests of its call: the assessed ones may get what was prefetched. */
function grantedAtOnce({ runs, prefetched }: Call, { segments }: ReserveReply): number[] {
  const permits: number[] = [];
  eachSegment(runs, segments, ({ cost }, { delay, count }) => {
    for (let i = 0; i < cost.length; i++)
      permits[i] = (permits[i] ?? 0) + (delay === 0 ? cost[i] * count : 0);
  });
  return permits.map((n, i) => Math.max(0, n - prefetched * runs.at(-1)!.cost[i]));
}
