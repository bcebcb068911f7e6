import { exceeds } from '../limits/limit.ts';
import { eachSegment } from '../stores/segments.ts';
import type { Cost, ReserveReply } from '../stores/store.ts';
import type { Call } from './batch.ts';
import { type Entry, type Peers, sameCost } from './entry.ts';
import { type Booked, leastWait, mostWait, rounding } from './forecast.ts';
import type { LineParts } from './lineParts.ts';
import type { Reservation } from './reservations.ts';

/** Entries that are walked over for each millisecond until the next such walk: a small part of the time. */
const walkedPerMs = 100;

/** What is known here, without a call, of how long a request will have to wait. */
export class Outlook {
  readonly #parts: LineParts;
  #retryAt = 0;
  /** Who was at the head of the line then. */
  #retries: Entry | undefined;
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
    const { last } = this.#parts.bookings.reservations;
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
    const { ledger, queue, bookings, denial } = this.#parts;
    if (timeout === 0) {
      if (this.stands(now)) return Infinity;
      // What is too much is for the store to say.
      return exceeds(ledger.limits, cost) ? 0 : (denial.waitFor(cost, now) ?? 0);
    }
    const { last } = bookings.reservations;
    const asked = queue.unjudged
      ? queue.asked
      : this.#askedFor(cost, now + timeout, queue.asked, queue.peers);
    return Math.max(last?.soonest ?? 0, since) + leastWait(ledger.limits, cost, asked, this.#booked()) - now;
  }

  /** Says what is known of an entry that is to join the line, so that it counts for those behind it. */
  judge(entry: Entry, now: number): void {
    const { queue, bookings } = this.#parts;
    const { last } = bookings.reservations;
    if (entry.timeout === Infinity || entry.timeout === 0) return;
    if (queue.unjudged || !last || last.due <= now) {
      queue.unjudged ??= entry;
      return;
    }
    entry.sure = this.#isSure(entry, queue.wanted);
    if (!entry.sure) queue.peers = entry.peers = joinPeers(entry, queue.peers);
  }

  /**
   * Refuses requests that may not wait when others have to, and those whose time is too short for what stands in front of
   * them: newcomers with the first reply, the others now and then, as a walk over a long line takes its time.
   */
  refuseHopeless(now: number, call: Call, reply: ReserveReply): void {
    const { queue, bookings } = this.#parts;
    if (queue.hasty.size > 0 && this.stands(now)) for (const entry of queue.hasty) queue.late(entry);
    if (queue.deadlines.next === Infinity) return;
    if (now >= this.#nextWalk) queue.unjudged = queue.unbooked;
    if (!queue.unjudged) return;
    const { last } = bookings.reservations;
    const waits = last !== undefined && last.due > now;
    const walked = waits
      ? this.#walk(now, last.soonest, this.#booked())
      : this.#walk(now, call.sent, this.#grantedAtOnce(call, reply));
    if (now >= this.#nextWalk) this.#nextWalk = now + walked / walkedPerMs;
  }

  /** Judges those that are not judged yet, refuses the hopeless ones, and says how many there were. */
  #walk(now: number, soonest: number, booked: Booked | undefined): number {
    const { ledger, queue } = this.#parts;
    const from = queue.unjudged;
    const asked = from === queue.unbooked ? queue.asked.map(() => 0) : queue.asked.slice();
    const wanted = from === queue.unbooked ? queue.wanted.map(() => 0) : queue.wanted.slice();
    if (from !== queue.unbooked)
      for (const { cost, count, sure } of queue.entries(from)) {
        add(wanted, cost, -count);
        if (sure) add(asked, cost, -count);
      }
    let peers: Peers | undefined;
    let walked = 0;
    for (const entry of queue.entries(from)) {
      const { cost, count, timeout, deadline } = entry;
      walked++;
      if (timeout > 0 && timeout < Infinity) {
        const before = this.#askedFor(cost, deadline, asked, peers);
        const granted = soonest + leastWait(ledger.limits, cost, before, booked);
        if (granted > deadline) {
          queue.late(entry, granted - now);
          continue;
        }
        const sure = this.#isSure(entry, wanted);
        if (!sure) peers = joinPeers(entry, peers);
        queue.judge(entry, sure, sure ? undefined : peers);
      }
      add(wanted, cost, count);
      if (entry.sure) add(asked, cost, count);
    }
    queue.peers = peers;
    queue.unjudged = undefined;
    return walked;
  }

  /** Whether an entry will be served in time behind requests that want so much. */
  #isSure({ cost, count, deadline }: Entry, wanted: readonly number[]): boolean {
    const { ledger, queue, bookings } = this.#parts;
    const { last } = bookings.reservations;
    if (!last) return false;
    const all = wanted.map((n, i) => n + cost[i] * count);
    const roundings = (queue.waiting + count) * rounding(ledger.limits, cost);
    return (
      bookings.reservations.last!.due + mostWait(ledger.limits, all, roundings, this.#booked()) <= deadline
    );
  }

  /** Permits that are granted before a request, whatever else happens, if it is granted. */
  #askedFor(
    cost: Cost,
    deadline: number,
    asked: readonly number[],
    peers: Peers | undefined,
  ): readonly number[] {
    if (!peers || peers.count === 0 || !isPeer(cost, deadline, peers)) return asked;
    return asked.map((n, i) => n + cost[i] * peers.count);
  }

  /** A reply has booked moments, up to the last one; `returns` says how much had been given back when it was asked for. */
  booked({ now, paused = 0 }: ReserveReply, sent: number, returns: number): void {
    const { ledger, bookings } = this.#parts;
    const { last } = bookings.reservations;
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
    const { reservations, returns } = this.#parts.bookings;
    const { last } = reservations;
    if (!last) return undefined;
    // What was given back may have filled the bucket.
    const drained = last === this.#drained && returns === this.#returns;
    return { permits: last.grant.cost.map((n) => n * last.count), drained };
  }
}

/** Whether a request is one for which these count: deadlines of one millisecond are alike, as moments are whole. */
function isPeer(cost: Cost, deadline: number, peers: Peers): boolean {
  return sameCost(cost, peers.cost) && deadline < peers.deadline + 1;
}

function joinPeers({ cost, deadline }: Entry, peers: Peers | undefined): Peers {
  if (!peers || !isPeer(cost, deadline, peers)) return { cost, deadline, count: 0 };
  peers.deadline = Math.min(peers.deadline, deadline);
  return peers;
}

function add(sums: number[], cost: Cost, count: number): void {
  for (let i = 0; i < sums.length; i++) sums[i] += cost[i] * count;
}
