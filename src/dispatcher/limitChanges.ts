import { LimiterClosedError } from '../errors.ts';
import { exceedsError } from '../limits/cost.ts';
import { exceeds, type Limit } from '../limits/limit.ts';
import type { Reply, ReserveReply } from '../stores/store.ts';
import type { Parts } from './parts.ts';
import type { ReserveCalls } from './reserveCalls.ts';

/** Pauses that end within so many milliseconds of each other are the same: each reply gives the end anew. */
const samePause = 200;
/** Of a pause that has ended, a reply tells no more than so many milliseconds. */
const leastPause = 50;

/** Changes of the limit for the whole fleet: made here, or known from replies. Each is reported once as an event. */
export class LimitChanges {
  readonly #parts: Parts;
  readonly #calls: ReserveCalls;
  /** Changes in flight, and how many of them are pauses. */
  #inFlight = 0;
  #pauses = 0;
  #limits: readonly Limit[];
  #pausedUntil = 0;

  constructor(parts: Parts, calls: ReserveCalls) {
    this.#parts = parts;
    this.#calls = calls;
    this.#limits = parts.ledger.limits;
  }

  get inFlight(): boolean {
    return this.#inFlight > 0;
  }

  /** Whether a pause is on its way to the store: nothing is granted meanwhile. */
  get isPausing(): boolean {
    return this.#pauses > 0;
  }

  /** Sends a change, and then calls the store again, as waiting requests may have other moments now. */
  send<T>(
    change: (done: Reply<T>) => void,
    reply: Reply<T>,
    apply: (value: T | undefined) => void = () => {},
  ): void {
    if (this.#refuses(reply)) return;
    const { events, loop, refunds, waitEstimate } = this.#parts;
    this.#inFlight++;
    change((error, value) => {
      this.#inFlight--;
      if (error) events.emitError(error);
      loop.run(() => {
        refunds.version++;
        waitEstimate.retryAt = 0;
        this.#calls.expedite();
        apply(value);
        this.#reportRate();
      });
      reply(error, value);
    });
  }

  /** Pauses the limit. The change replies the milliseconds that are left of the pause. */
  pause(change: (done: Reply<number>) => void, reply: Reply<number>): void {
    const { clock, loop, queue, reservations } = this.#parts;
    this.#pauses++;
    queue.watchReserved();
    this.send(change, reply, (ms = 0) => {
      this.#pauses--;
      if (ms === 0) return;
      const end = clock.now() + ms;
      if (this.#calls.current) this.#calls.current.pausedUntil = end;
      reservations.requeueFrom(({ due }) => due < end);
      this.#reportPause(ms, clock.now());
    });
    loop.settle();
  }

  /** Forgets what was granted, and ends a pause: the next one is reported even if it ends at the same time. */
  forget(change: (done: Reply<void>) => void, reply: Reply<void>): void {
    this.send(change, reply, () => {
      this.#pausedUntil = 0;
    });
  }

  /** After closing, replies with an error. Returns whether it did. */
  #refuses<T>(reply: Reply<T>): boolean {
    const { name, queue } = this.#parts;
    if (queue.closed) reply(new LimiterClosedError(name));
    return queue.closed;
  }

  /** Reports what a reply says about the limit. */
  replied({ paused }: ReserveReply, received: number): void {
    if (this.isPausing) this.#parts.queue.watchReserved();
    this.#reportRate();
    if (paused !== undefined) this.#reportPause(paused, received);
  }

  /** Reports a change of the limits, and fails the queued requests that they can never grant. */
  #reportRate(): void {
    const { name, named, ledger, queue } = this.#parts;
    const { limits } = ledger;
    const known = this.#limits;
    if (limits === known) return;
    this.#limits = limits;
    for (const request of queue.requests()) {
      if (!exceeds(limits, request.cost)) continue;
      if (request.stage === 'queued') queue.settle(request, exceedsError(name, named, limits, request.cost));
      // If its reservation is void, it delays no request behind it.
      else if (request.stage === 'reserved') request.certain = false;
    }
    // Another client may have stored the same limits again.
    if (JSON.stringify(limits) !== JSON.stringify(known)) this.#parts.reporter.rate(limits);
  }

  #reportPause(ms: number, now: number): void {
    const end = now + ms;
    // A late reply may tell of the last milliseconds of a pause that has ended here.
    const isOver = now >= this.#pausedUntil && ms >= leastPause;
    if (!isOver && Math.abs(end - this.#pausedUntil) <= samePause) return;
    this.#parts.reporter.paused(ms);
    this.#pausedUntil = end;
  }
}
