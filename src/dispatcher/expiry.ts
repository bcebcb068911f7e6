import { nextTurn } from '../endOfTurn.ts';
import type { Admission } from './admission.ts';
import type { Parts } from './parts.ts';
import type { Request } from './request.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** A timer that fires this many milliseconds late may have waited for a blocked event loop. */
const lateTimer = 1;

/** Denies requests at their deadlines. */
export class Expiry {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  readonly #admission: Admission;
  /** 'before' while replies that may lie in the socket are read first, 'after' in the pass that follows. */
  #reading: 'before' | 'after' | undefined;

  constructor(parts: Parts, calls: ReserveCalls, admission: Admission) {
    this.#parts = parts;
    this.#calls = calls;
    this.#admission = admission;
  }

  /** When a request expires next, by the monotonic clock. */
  get next(): number {
    return this.#reading === 'before' ? Infinity : this.#parts.queue.deadlines.next;
  }

  /**
   * Sets the deadline of a request that has just joined. While its first reply is still on its way, the request is not denied
   * before the store's time to reply is over.
   */
  watch(request: Request): void {
    const { deadlines } = this.#parts.queue;
    const { count, replyAllowance } = this.#calls;
    if (!this.delays(request.timeout)) deadlines.add(request);
    else deadlines.addUnanswered(request, replyAllowance - request.timeout, count);
  }

  /** Whether a request that joins with this timeout may be denied later than at its deadline. */
  delays(timeout: number): boolean {
    return !this.#parts.ledger.sync && timeout < this.#calls.replyAllowance && !this.#admission.mustWait;
  }

  /** Denies the requests that have expired. */
  run(): void {
    const { clock, queue, reservations, loop } = this.#parts;
    const { deadlines } = queue;
    if (this.next === Infinity) return;
    const now = clock.now();
    for (let first = deadlines.first!; deadlines.next <= now; first = deadlines.first!) {
      const isLate = now - deadlines.next >= lateTimer;
      if (first.deadlines) queue.split(first);
      // After a blockage, the event loop runs timers before it reads the replies that have arrived.
      else if (isLate && first.stage !== 'queued' && !this.#reading) {
        this.#readReplies();
        break;
      } else reservations.settle(first, undefined);
    }
    if (!queue.settled.isEmpty) loop.repeat();
  }

  #readReplies(): void {
    this.#reading = 'before';
    nextTurn(() => {
      this.#reading = 'after';
      this.#parts.loop.run();
      this.#reading = undefined;
    });
  }
}
