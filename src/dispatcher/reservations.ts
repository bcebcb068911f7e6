import type { Clock } from '../clock.ts';
import { sameCost } from '../limits/cost.ts';
import type { Notice } from './notice.ts';
import type { Queue } from './queue.ts';
import type { Refunds } from './refunds.ts';
import type { Reason, Request } from './request.ts';
import type { Reservation } from './reservation.ts';
import { ReservedMoments } from './reservedMoments.ts';

/** Assigns reserved moments to requests: the first requests of the queue have them in order, one each. */
export class Reservations {
  readonly #queue: Queue;
  readonly #refunds: Refunds;
  readonly #clock: Clock;
  readonly #notice: Notice;
  readonly moments = new ReservedMoments();

  constructor(queue: Queue, refunds: Refunds, clock: Clock, notice: Notice) {
    this.#queue = queue;
    this.#refunds = refunds;
    this.#clock = clock;
    this.#notice = notice;
  }

  /**
   * Assigns moments to the next requests of the same cost, and refunds the rest. With `inOrder`, all of them are refunded if a
   * reservation in front of them is due later.
   */
  assign(reservation: Reservation, inOrder = false): void {
    const { grant, count } = reservation;
    const due = this.moments.dueOf(reservation);
    if (inOrder && due > reservation.due) {
      this.#refund(reservation);
      return;
    }
    // If a reservation in front of it is due later, the requests are granted only then.
    const nominalDue = due > reservation.due ? due : reservation.nominalDue;
    let left = count;
    for (let request = this.#queue.firstUnreserved; request && left > 0; ) {
      if (!sameCost(request.cost, grant.cost)) break;
      this.#queue.split(request);
      if (this.#isTooLate(request, due, nominalDue)) this.#queue.settle(request, due - this.#clock.now());
      else {
        const reserved = this.#queue.reserve(left);
        reserved.block = this.moments.add(reservation, reserved.count);
        left -= reserved.count;
      }
      request = this.#queue.firstUnreserved;
    }
    if (left > 0) this.#refund(reservation.part(left));
  }

  /** A grant at once is in time, however long the reply took. */
  #isTooLate({ deadline }: Request, due: number, nominalDue: number): boolean {
    return nominalDue > deadline && due > this.#clock.now();
  }

  /** Lets the first requests have an earlier moment than those reserved, and refunds as many of the latter. */
  bringForward(earlier: Reservation): void {
    for (const left of this.moments.bringForward(earlier)) this.#refund(left);
  }

  /** Removes a request from the queue, and ends it without a grant. */
  settle(request: Request, reason: Reason): void {
    this.remove(request);
    this.#queue.settled.add(request, reason);
  }

  /**
   * Removes a request from the queue. The requests of the same cost right behind it move up. The moments that are left over at
   * the end of these go to the next requests, or are refunded.
   */
  remove(request: Request): void {
    const { stage } = request;
    if (stage === 'settled') return;
    this.#queue.remove(request);
    if (stage !== 'reserved') return;
    const block = request.block!.root;
    const isLast = block === this.moments.lastBlock;
    const left = this.moments.takeLast(block, request.count);
    if (isLast) for (const reservation of left.reverse()) this.assign(reservation);
    else for (const reservation of left) this.#refund(reservation);
  }

  /** Refunds the reservations from the first that matches on. Their requests stay in the queue. */
  requeueFrom(matches: (reservation: Reservation) => boolean): void {
    const count = this.moments.countFrom(matches);
    if (count === 0) return;
    this.#refundLast(count);
    this.#queue.requeueLast(count);
  }

  /**
   * Fails the requests that are due, and wait for the reply that tells whether their reservations stand. These may be void: they
   * do not go to the next requests.
   */
  failDelayed(reason: Error): void {
    const now = this.#clock.now();
    let { first } = this.moments;
    for (; first && first.due <= now && !this.#notice.covers(first); first = this.moments.first) {
      const request = this.#queue.splitFront(this.#queue.first!, first.count);
      this.#refund(first.part(request.count));
      this.moments.shift(request.count);
      this.#queue.settle(request, reason);
    }
  }

  /** Refunds all reservations. */
  refundAll(): void {
    this.#refundLast(this.moments.count);
  }

  #refund(reservation: Reservation): void {
    const { grant, count } = reservation;
    if (!this.#notice.isForgotten(reservation, this.#clock.now())) this.#refunds.add(grant, count);
  }

  #refundLast(count: number): void {
    for (let left = count; left > 0; )
      for (const taken of this.moments.takeLast(this.moments.lastBlock!, left)) {
        this.#refund(taken);
        left -= taken.count;
      }
  }
}
