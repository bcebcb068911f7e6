import type { Cost } from '../limits/cost.ts';
import { exceeds, type Limit } from '../limits/limit.ts';
import { longestInterval } from '../limits/load.ts';
import { contenderPeriod, type Ledger, noticePeriod, type ReserveReply } from '../stores/store.ts';
import type { FairShare } from './fairShare.ts';
import type { Call } from './gather.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import type { Request } from './request.ts';
import type { Reservation } from './reservation.ts';
import type { Reservations } from './reservations.ts';
import * as bounds from './waitBounds.ts';

/** What matters of a request, whether it has joined or not. */
export type Timed = Pick<Request, 'cost' | 'deadline'>;

/** Of the start of a window, at which all of its permits are free. */
const atOnce: bounds.UntilFree = () => 0;

const isBucket = ({ kind }: Limit): boolean => kind === 'tokenBucket';

/** Bounds of the moments at which queued requests are granted: by the reservations, and by the state of a store in this process. */
export class GrantBounds {
  readonly #ledger: Ledger;
  readonly #queue: Queue;
  readonly #reservations: Reservations;
  readonly #refunds: Refunds;
  readonly #fairShare: FairShare;
  readonly #untilFree: bounds.UntilFree;
  readonly #mostUntilFree: bounds.UntilFree;
  /** The limits that have been in force from the beginning. */
  readonly #limits: readonly Limit[];
  /** The last reservation, if a single limit alone decided its moment; and the version of the refunds then. */
  #decided: Reservation | undefined;
  #version = 0;
  /** The limits of the last reply, and when the last reservation that was made under others is due: these count for less. */
  #present: readonly Limit[];
  #othersUntil = 0;
  /** From when on windows are not paced, and the limit is not paused. */
  #calmFrom = 0;
  /** Whether permits were refunded since reservations were last moved: they tell nothing then of the requests behind them. */
  mayMove = false;
  /** Permits of each limit. The same arrays serve for all requests: new ones would be most of what a request allocates. */
  readonly #asked: number[] = [];
  readonly #most: number[] = [];
  readonly #granted: number[] = [];

  constructor(
    ledger: Ledger,
    queue: Queue,
    reservations: Reservations,
    refunds: Refunds,
    fairShare: FairShare,
  ) {
    this.#ledger = ledger;
    this.#queue = queue;
    this.#reservations = reservations;
    this.#refunds = refunds;
    this.#fairShare = fairShare;
    this.#limits = this.#present = ledger.limits;
    this.#untilFree = (permits) => Math.max(...(ledger.untilFree?.(permits) ?? [Infinity]));
    this.#mostUntilFree = (permits) => bounds.mostUntilFree(ledger.limits, permits);
  }

  /** A reply was received at `now`. */
  replied({ contenders, paused = 0 }: ReserveReply, now: number): void {
    if (contenders <= 1 && paused === 0) return;
    // Windows may stay paced for so long after the last reply that told of contenders.
    const paced = noticePeriod + contenderPeriod;
    this.#calmFrom = Math.max(this.#calmFrom, now + Math.max(paced, paused));
  }

  /** A reply is about to make reservations. */
  reserving(): void {
    const { limits } = this.#ledger;
    if (limits === this.#present) return;
    this.#present = limits;
    this.#decided = undefined;
    this.#queue.forgetAssessments();
    // Moments of a client never decrease, so until then they may be later than the limit requires.
    this.#othersUntil = this.#reservations.moments.last?.due ?? 0;
  }

  /** A reply has made reservations. */
  reserved({ now, paused = 0, contenders }: ReserveReply, { sent, version }: Call): void {
    const { limits } = this.#ledger;
    const { last } = this.#reservations.moments;
    // Paced reservations may lie within a window.
    const mayBePaced = limits[0].kind === 'fixedWindow' && (contenders > 1 || sent < this.#calmFrom);
    const isLater = last!.grant.moment > now + paused + 1;
    this.#decided = limits.length === 1 && !mayBePaced && isLater ? last : undefined;
    this.#version = version;
  }

  /** Permits that nobody waits for are about to be charged, ahead of now. */
  charged(cost: Cost, now: number): void {
    const { last } = this.#reservations.moments;
    const from = Math.max(this.#calmFrom, now, last?.due ?? 0);
    // Up to half of the permits of each window may be too few for the charge.
    this.#calmFrom = from + 2 * (this.#fairShare.loadOf(cost) + longestInterval(this.#ledger));
  }

  /** The last reservation, if its moment has not come. */
  lastReserved(now: number): Reservation | undefined {
    const { last } = this.#reservations.moments;
    return last && last.due > now ? last : undefined;
  }

  /**
   * The earliest moment at which the last of `count` requests can be granted. Without reservations, the store has granted
   * requests at `since` or later, with so many permits of each limit.
   */
  least(
    { cost, deadline }: Timed,
    count: number,
    now: number,
    since: number,
    granted?: readonly number[],
  ): number {
    const { limits, unlimited } = this.#ledger;
    if (unlimited) return 0;
    const { permits } = this.#queue;
    const requests = count + permits.peersOf(cost, deadline);
    const asked = this.#asked;
    for (let i = 0; i < cost.length; i++) asked[i] = permits.certain[i] + cost[i] * requests;
    const isOwn = limits === this.#present && now >= this.#othersUntil && !this.mayMove;
    const last = isOwn ? this.lastReserved(now) : undefined;
    const reserved = last ? this.#permitsAt(last) : granted;
    const earliest = Math.max(last?.earliestDue ?? 0, since);
    const moment = earliest + bounds.leastWait(limits, cost, asked, reserved, isOwn && this.#isDecided);
    if (!last || limits.length > 1 || limits[0].kind !== 'slidingWindow') return moment;
    // The reservations may have several moments, close to each other.
    const { first } = this.#reservations.moments;
    return Math.max(
      moment,
      first!.earliestDue + bounds.leastWait(limits, cost, asked, this.#reservations.moments.permits),
    );
  }

  /** Whether `count` requests are granted in time behind the assessed ones, unless another client begins to wait. */
  isCertain(request: Timed, count: number, now: number): boolean {
    if (!this.#canTell(request)) return false;
    const { limits, sync } = this.#ledger;
    const untilFree = this.#mostUntilFree;
    const from = now + (sync ? 0 : this.#fairShare.fillTime);
    const last = this.lastReserved(now);
    if (last && this.#isDecided) {
      const { kind } = limits[0];
      if (kind === 'tokenBucket' && this.#isWithin(request, count, last.due, untilFree)) return true;
      const start = last.due + from - now;
      if (kind === 'fixedWindow' && this.#isWithin(request, count, start, atOnce, this.#permitsAt(last)))
        return true;
    }
    // Nothing but this client's reservations is ahead, and every window has ended an interval later. Only a bucket may owe
    // permits that were taken under another limit.
    const isKnown = now >= this.#calmFrom && (limits === this.#limits || !limits.some(isBucket));
    const { permits } = this.#reservations.moments;
    const isKnownInTime = isKnown && this.#isWithin(request, count, from, untilFree, permits);
    // Of permits that another client has charged meanwhile, only the last reservation tells.
    if (isKnownInTime && this.least(request, count, now, 0) <= request.deadline) return true;
    return this.isFree(request, count, now);
  }

  /**
   * Whether a store in this process will have granted `count` requests in time behind the assessed ones, unless another client
   * begins to wait. Unlike the reservations, it tells of permits that another client has refunded.
   */
  isFree(request: Timed, count: number, now: number): boolean {
    return (
      this.#canTell(request) &&
      this.lastReserved(now) !== undefined &&
      this.#refunds.idle &&
      this.#isWithin(request, count, now, this.#untilFree)
    );
  }

  /** Whether requests like this can be certain at all. */
  #canTell({ cost }: Timed): boolean {
    return !exceeds(this.#ledger.limits, cost) && this.#fairShare.contenders <= 1;
  }

  /** Whether `count` requests are granted in time, behind the assessed ones and so many permits before. */
  #isWithin(
    { cost, deadline }: Timed,
    count: number,
    from: number,
    untilFree: bounds.UntilFree,
    before?: readonly number[],
  ): boolean {
    const { permits, size } = this.#queue;
    const asked = this.#asked;
    const most = this.#most;
    for (let i = 0; i < cost.length; i++) {
      asked[i] = permits.all[i] + cost[i] * count + (before?.[i] ?? 0);
      most[i] = Math.max(permits.most[i], cost[i]);
    }
    return from + bounds.mostWait(untilFree, this.#ledger.limits, asked, most, size + 1) <= deadline;
  }

  /**
   * Whether all requests without reservations are still certain to be granted in time: no client began to wait, and the last one
   * can be granted before the first of them expires. None needs another assessment then.
   */
  areAllCertain(now: number, since: number, granted: readonly number[]): boolean {
    const { permits, deadlines } = this.#queue;
    if (this.#fairShare.contenders > 1 || !permits.all.every((n, i) => n === permits.certain[i]))
      return false;
    const { next } = deadlines;
    return this.least({ cost: permits.most, deadline: next }, 1, now, since, granted) <= next;
  }

  /** The permits of each limit that are granted at the moment of the last reservation. */
  #permitsAt(last: Reservation): number[] {
    const { moment } = last.grant;
    const permits = this.#granted;
    for (let i = 0; i < last.grant.cost.length; i++) permits[i] = 0;
    for (let one: Reservation | undefined = last; one?.grant.moment === moment; one = one.previous)
      for (let i = 0; i < permits.length; i++) permits[i] += one.grant.cost[i] * one.count;
    return permits;
  }

  /** Whether the bucket is empty, or a fixed window starts, at the moment of the last reservation. A refund may change that. */
  get #isDecided(): boolean {
    const { last } = this.#reservations.moments;
    const isSame = this.#present === this.#ledger.limits && this.#version === this.#refunds.version;
    return isSame && last !== undefined && last === this.#decided;
  }
}
