import { nextTurn } from '../endOfTurn.ts';
import type { ReserveReply } from '../stores/store.ts';
import type { Call } from './gather.ts';
import { grantAtOnce } from './grantAtOnce.ts';
import type { LimitChanges } from './limitChanges.ts';
import type { Parts } from './parts.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** The most requests that closing ends in one turn of the event loop: tens of thousands would block it. */
const mostClosed = 1_024;

/** Grants the requests that are due, and reports those that have ended. */
export class Granting {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  readonly #changes: LimitChanges;
  readonly #run: () => void;
  /** The number of calls when requests with reservations were last let expire. */
  #watchedIn = -1;
  /** Whether the next turn ends further requests. */
  isResting = false;
  /** Number of granted requests. */
  count = 0;
  /** The time of the grants that are being handed out. */
  time: number | undefined;

  /** `run` runs the passes. */
  constructor(parts: Parts, calls: ReserveCalls, changes: LimitChanges, run: () => void) {
    this.#parts = parts;
    this.#calls = calls;
    this.#changes = changes;
    this.#run = run;
  }

  /** When the next pass has to grant a request. While a reply is awaited that tells whether the first reservation stands, never. */
  get next(): number {
    const isWatched = this.#changes.isPausing || this.#watchedIn === this.#calls.count;
    return isWatched ? this.#due() : (this.#parts.reservations.moments.first?.due ?? Infinity);
  }

  /** Grants all requests of a call without reservations, if its reply does. Returns how many. */
  replied(call: Call, reply: ReserveReply, received: number): number {
    if (this.#changes.isPausing || call.pausedUntil !== undefined || this.#parts.queue.closed) return 0;
    this.time = received;
    const granted = grantAtOnce(this.#parts, call, reply, received);
    this.time = undefined;
    this.count += granted;
    return granted;
  }

  /** Grants the requests whose reservations are due, and reports those that have ended, in the order of the queue. */
  run(): void {
    const { clock, queue, reservations, reporter } = this.#parts;
    const { settled } = queue;
    const { moments } = reservations;
    if (this.isResting || (settled.isEmpty && !moments.first)) return;
    const now = clock.now();
    this.time = now;
    let left = queue.closed ? mostClosed : Infinity;
    for (;;) {
      const isDue = this.#due() <= now;
      const ended = settled.first;
      if (ended && !(isDue && queue.first!.order < ended.order)) {
        if (left <= 0) {
          this.#rest();
          break;
        }
        left -= ended.count;
        settled.reportFirst(reporter);
      } else if (isDue) this.#grantFirst();
      else break;
    }
    this.time = undefined;
    if (!this.#changes.isPausing && moments.first && moments.first.due <= now) this.#watchDelayed(now);
  }

  #rest(): void {
    this.isResting = true;
    nextTurn(() => {
      this.isResting = false;
      this.#run();
    });
  }

  /** When the first request can be granted, as far as is known. None is while the dispatcher is being closed. */
  #due(): number {
    const { notice, queue, reservations } = this.#parts;
    const { first } = reservations.moments;
    return first && !(this.#changes.isPausing || queue.closed) && notice.covers(first) ? first.due : Infinity;
  }

  /** Lets the requests that are due expire, but not before the reply that tells whether their reservations stand is overdue. */
  #watchDelayed(now: number): void {
    if (this.#watchedIn === this.#calls.count) return;
    this.#watchedIn = this.#calls.count;
    this.#parts.queue.watchReserved(now + this.#calls.replyAllowance);
  }

  /** Grants the first request, and those after it that nothing tells apart from it. */
  #grantFirst(): void {
    const { queue, reservations, reporter } = this.#parts;
    const { moments } = reservations;
    const { first } = moments;
    const request = queue.first!;
    do {
      const grant = moments.shift();
      const data = request.dataOf(0);
      queue.removeOne(request);
      this.count++;
      reporter.granted(request.waiter, grant, data);
    } while (
      queue.first === request &&
      moments.first === first &&
      queue.settled.isEmpty &&
      !this.#changes.isPausing
    );
  }
}
