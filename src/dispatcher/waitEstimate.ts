import type { Cost } from '../limits/cost.ts';
import { sameCost } from '../limits/cost.ts';
import { exceeds } from '../limits/limit.ts';
import { eachSegment } from '../stores/segments.ts';
import type { ReserveReply } from '../stores/store.ts';
import type { Call } from './batch.ts';
import type { LineParts } from './lineParts.ts';
import type { Peers, Request } from './request.ts';
import type { Reservation } from './reservation.ts';
import { type Booked, leastWait, mostWait, rounding } from './waitBounds.ts';

/** Entries that are walked over for each millisecond until the next such walk: a small part of the time. */
const walkedPerMs = 25;

/** Entries that such a walk sees at most: what has changed for those behind them is found out when they have come forward. */
const mostWalked = 20_000;

/** What is known here, without a call, of how long a request will have to wait. */
export class WaitEstimate {
  readonly #parts: LineParts;
  #retryAt = 0;
  /** Who was at the head of the line then. */
  #retries: Request | undefined;
  #nextWalk = 0;
  /** The last reservation whose moment came of a bucket's level alone, and how much had been given back by then. */
  #drained: Reservation | undefined;
  #returns = 0;

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  /** Before this time a store that cannot book is not asked again, unless somebody else has come to the head of the line. */
  get retryAt(): number {
    return this.#retries === this.#parts.queue.unbooked ? this.#retryAt : 0;
  }

  set retryAt(time: number) {
    this.#retryAt = time;
    this.#retries = this.#parts.queue.unbooked;
  }

  /** Whether anyone in the line is known to have to wait. */
  stands(now: number): boolean {
    const { last } = this.#parts.reservations.moments;
    return (
      (last !== undefined && last.due > now) ||
      (this.#parts.queue.unbooked !== undefined && this.retryAt > now)
    );
  }

  /**
   * The wait of a new request: Infinity where only that there is one is known. `since` is the time from which on the store
   * may have granted what is not known here.
   */
  waitFor(cost: Cost, timeout: number, now: number, since: number): number {
    const { ledger, queue, reservations: bookings, refusals: denial } = this.#parts;
    if (timeout === 0) {
      if (this.stands(now)) return Infinity;
      // What is too much is for the store to say.
      return exceeds(ledger.limits, cost) ? 0 : (denial.waitFor(cost, now) ?? 0);
    }
    const { last } = bookings.moments;
    const requests = 1 + (queue.unjudged ? 0 : peersOf(cost, now + timeout, queue.peers));
    const wait = leastWait(ledger.limits, cost, requests, queue.asked, this.#booked());
    return Math.max(last?.soonest ?? 0, since) + wait - now;
  }

  /** Says what is known of an request that is to join the line, so that it counts for those behind it. */
  judge(request: Request, now: number): void {
    const { queue, reservations: bookings } = this.#parts;
    const { last } = bookings.moments;
    if (request.timeout === Infinity || request.timeout === 0) return;
    if (queue.unjudged || !last || last.due <= now) {
      queue.unjudged ??= request;
      return;
    }
    request.sure = this.#isSure(request, queue.wanted);
    if (!request.sure) queue.peers = request.peers = joinPeers(request, queue.peers);
  }

  /**
   * Refuses requests that may not wait when others have to, and those whose time is too short for what stands in front of
   * them: newcomers with the first reply, the others now and then, as a walk over a long line takes its time.
   */
  refuseHopeless(now: number, call: Call, reply: ReserveReply): void {
    const { queue, reservations: bookings } = this.#parts;
    if (queue.hasty.size > 0 && this.stands(now)) for (const request of queue.hasty) queue.late(request);
    if (queue.deadlines.next === Infinity) return;
    if (!queue.unjudged && now < this.#nextWalk) return;
    const { last } = bookings.moments;
    const waits = last !== undefined && last.due > now;
    const walked = waits
      ? this.#walk(now, last.soonest, this.#booked())
      : this.#walk(now, call.sent, this.#grantedAtOnce(call, reply));
    this.#nextWalk = Math.max(this.#nextWalk, now + walked / walkedPerMs);
  }

  /** Judges those that are not judged yet, or else the head of the line; refuses the hopeless ones, and says how many it saw. */
  #walk(now: number, soonest: number, booked: Booked | undefined): number {
    const { ledger, queue } = this.#parts;
    const fresh = queue.unjudged !== undefined;
    const from = queue.unjudged ?? queue.unbooked;
    const whole = from === queue.unbooked;
    const asked = queue.asked.map((n) => (whole ? 0 : n));
    const wanted = queue.wanted.map((n) => (whole ? 0 : n));
    for (let request = whole ? undefined : from; request; request = request.next) {
      add(wanted, request.cost, -request.count);
      if (request.sure) add(asked, request.cost, -request.count);
    }
    let peers: Peers | undefined;
    let walked = 0;
    // No generator: it took most of the time of a walk over a long line.
    let request = from;
    for (let next: Request | undefined; request && (fresh || walked < mostWalked); request = next) {
      next = request.next;
      walked++;
      const { cost, count, timeout, deadline } = request;
      if (timeout > 0 && timeout < Infinity) {
        const requests = 1 + peersOf(cost, deadline, peers);
        const granted = soonest + leastWait(ledger.limits, cost, requests, asked, booked);
        if (granted > deadline) {
          queue.late(request, granted - now);
          continue;
        }
        const sure = this.#isSure(request, wanted);
        if (!sure) peers = joinPeers(request, peers);
        if (!sure || !request.sure) queue.judge(request, sure, sure ? undefined : peers);
      }
      add(wanted, cost, count);
      if (request.sure) add(asked, cost, count);
    }
    if (!request) queue.peers = peers;
    queue.unjudged = undefined;
    return walked;
  }

  /** Whether an request will be served in time behind requests that want so much. */
  #isSure({ cost, count, deadline }: Request, wanted: readonly number[]): boolean {
    const { ledger, queue, reservations: bookings } = this.#parts;
    const { last } = bookings.moments;
    if (!last || !this.#isDrained) return false;
    const roundings = (queue.waiting + count) * rounding(ledger.limits, cost);
    return last.due + mostWait(ledger.limits, wanted[0] + cost[0] * count, roundings) <= deadline;
  }

  /** A reply has booked moments, up to the last one; `returns` says how much had been given back when it was asked for. */
  booked({ now, paused = 0 }: ReserveReply, sent: number, returns: number): void {
    const { ledger, reservations: bookings } = this.#parts;
    const { last } = bookings.moments;
    const alone = ledger.limits.length === 1 && ledger.limits[0].kind === 'tokenBucket';
    const waits = last && last.soonest > sent && last.grant.moment > now + paused + 1;
    this.#drained = alone && waits ? last : undefined;
    this.#returns = returns;
  }

  /** What a reply has granted at once: it counts from when it was asked for. */
  #grantedAtOnce({ runs }: Call, { segments }: ReserveReply): Booked {
    const permits = this.#parts.queue.asked.map(() => 0);
    eachSegment(runs, segments, ({ cost }, { delay, count }) => {
      if (delay === 0) add(permits, cost, count);
    });
    return { permits, drained: false };
  }

  #booked(): Booked | undefined {
    const { last } = this.#parts.reservations.moments;
    return last && { permits: last.grant.cost.map((n) => n * last.count), drained: this.#isDrained };
  }

  /** Whether the bucket holds nothing at the last booked moment; what was given back since may have filled it. */
  get #isDrained(): boolean {
    const { moments: reservations, returns } = this.#parts.reservations;
    return this.#drained !== undefined && reservations.last === this.#drained && returns === this.#returns;
  }
}

/** How many peers are served before a request, if it is. */
function peersOf(cost: Cost, deadline: number, peers: Peers | undefined): number {
  return peers && isPeer(cost, deadline, peers) ? peers.count : 0;
}

/** Whether a request is one for which these count: deadlines of one millisecond are alike, as moments are whole. */
function isPeer(cost: Cost, deadline: number, peers: Peers): boolean {
  return sameCost(cost, peers.cost) && deadline < peers.deadline + 1;
}

function joinPeers({ cost, deadline }: Request, peers: Peers | undefined): Peers {
  if (!peers || !isPeer(cost, deadline, peers)) return { cost, deadline, count: 0 };
  peers.deadline = Math.min(peers.deadline, deadline);
  return peers;
}

function add(sums: number[], cost: Cost, count: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] += cost[i] * count;
}
