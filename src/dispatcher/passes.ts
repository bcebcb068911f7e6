import { nextTurn } from '../endOfTurn.ts';
import type { ReserveReply } from '../stores/store.ts';
import { WorkQueue } from '../workQueue.ts';
import { Admission } from './admission.ts';
import { Expiry } from './expiry.ts';
import type { Call } from './gather.ts';
import { grantAtOnce } from './grantAtOnce.ts';
import { LimitChanges } from './limitChanges.ts';
import { Lookups } from './lookups.ts';
import { Loop, type Passes as LoopPasses } from './loop.ts';
import { type DispatcherOptions, type Parts, partsOf } from './parts.ts';
import { ReplyPrefetch } from './replyPrefetch.ts';
import { Rescheduler } from './rescheduler.ts';
import { type Replies, ReserveCalls } from './reserveCalls.ts';
import { Timer } from './timer.ts';

/** The most requests that closing ends in one turn of the event loop: tens of thousands would block it. */
const mostClosed = 1_024;

/** The passes of a dispatcher. Each runs callbacks and sends calls; after the last, the one timer is set for the next pass. */
export class Passes implements LoopPasses, Replies {
  readonly parts: Parts;
  readonly calls: ReserveCalls;
  readonly changes: LimitChanges;
  readonly admission: Admission;
  readonly expiry: Expiry;
  readonly rescheduler: Rescheduler;
  readonly prefetch: ReplyPrefetch;
  readonly lookups = new Lookups();
  readonly #timer: Timer;
  readonly #run: () => void;
  #whenIdle: (() => void)[] = [];
  /** The number of calls when requests with reservations were last let expire. */
  #watchedIn = -1;
  /** Whether the next turn ends further requests. */
  #rests = false;
  /** Number of granted requests. */
  granted = 0;
  /** The time of the grants that are being handed out. */
  grantingAt: number | undefined;

  constructor(options: DispatcherOptions) {
    // The only loop of a queue runs one pass in a turn.
    const { ledger, works = new WorkQueue(Infinity) } = options;
    const loop = new Loop(ledger.sync, this, works);
    const parts = partsOf(options, loop);
    this.parts = parts;
    this.#run = () => loop.run();
    // The timers of many keys may fire in one turn. A synchronous store may be tested in virtual time, which has no turns.
    this.#timer = new Timer(parts.clock, ledger.sync ? this.#run : () => works.run(this.#run));
    this.calls = new ReserveCalls(parts, this);
    this.changes = new LimitChanges(parts, this.calls);
    this.admission = new Admission(parts, this.calls, this.changes);
    this.expiry = new Expiry(parts, this.calls);
    this.prefetch = new ReplyPrefetch(parts);
    this.rescheduler = new Rescheduler(parts, this.calls, this);
  }

  /** Whether a call is in flight, or about to be sent. */
  get isCalling(): boolean {
    const isReserving = this.calls.current !== undefined;
    return (
      isReserving ||
      this.changes.inFlight ||
      !this.parts.refunds.idle ||
      this.lookups.areWaiting ||
      this.prefetch.isHolding
    );
  }

  pass(): void {
    const { clock, hopeless, ledger, queue, refunds } = this.parts;
    if (hopeless.next < Infinity) {
      hopeless.run(clock.now());
      queue.settled.sort();
    }
    this.prefetch.serve();
    this.#report();
    this.rescheduler.run();
    this.admission.failSurplus();
    this.admission.reportDelays();
    refunds.flush(this.#run);
    this.#sendLookups();
    // A synchronous store can still grant a request at its deadline.
    if (ledger.sync) this.calls.send();
    if (!this.parts.loop.isRepeating) this.expiry.run();
    if (!ledger.sync && !this.prefetch.isExpecting) this.calls.send();
    this.#sendLookups();
  }

  settle(): void {
    this.calls.siblings.note(this.parts.queue.first !== undefined);
    const { first } = this.parts.reservations.moments;
    const isWatched = this.changes.isPausing || this.#watchedIn === this.calls.count;
    const due = isWatched ? this.#due() : (first?.due ?? Infinity);
    this.#timer.set(
      Math.min(due, this.calls.next, this.rescheduler.next, this.expiry.next, this.parts.hopeless.next),
    );
    if (this.prefetch.settle()) this.parts.loop.wake();
    this.reportIdle();
  }

  grants(call: Call, reply: ReserveReply, received: number): boolean {
    const { ledger, queue } = this.parts;
    const isDelayed = this.changes.isPausing || call.pausedUntil !== undefined || queue.closed;
    this.grantingAt = received;
    const granted = isDelayed ? 0 : grantAtOnce(this.parts, call, reply, received);
    this.grantingAt = undefined;
    this.granted += granted;
    if (!ledger.sync) this.prefetch.replied(granted, call, reply, received);
    return granted > 0;
  }

  replied(reply: ReserveReply, received: number): void {
    this.changes.replied(reply, received);
  }

  /** Calls back once when no call is in flight. */
  whenIdle(...callbacks: (() => void)[]): void {
    this.#whenIdle.push(...callbacks);
  }

  reportIdle(): void {
    if (this.#whenIdle.length === 0 || this.#rests || this.isCalling || this.parts.isBusy?.()) return;
    for (const callback of this.#whenIdle.splice(0)) callback();
  }

  /** When the first request can be granted, as far as is known. None is while the dispatcher is being closed. */
  #due(): number {
    const { notice, queue, reservations } = this.parts;
    const { first } = reservations.moments;
    return first && !(this.changes.isPausing || queue.closed) && notice.covers(first) ? first.due : Infinity;
  }

  /** Grants the requests whose reservations are due, and reports those that have ended, in the order of the queue. */
  #report(): void {
    const { clock, queue, reservations, reporter } = this.parts;
    const { settled } = queue;
    const { moments } = reservations;
    if (this.#rests || (settled.isEmpty && !moments.first)) return;
    const now = clock.now();
    this.grantingAt = now;
    let left = queue.closed ? mostClosed : Infinity;
    for (;;) {
      const isDue = this.#due() <= now;
      const ended = settled.first;
      if (ended && !(isDue && queue.first!.order < ended.order)) {
        if (left <= 0) {
          this.#rests = true;
          nextTurn(() => {
            this.#rests = false;
            this.#run();
          });
          break;
        }
        left -= ended.count;
        settled.reportFirst(reporter);
      } else if (isDue) this.#grantFirst();
      else break;
    }
    this.grantingAt = undefined;
    if (!this.changes.isPausing && moments.first && moments.first.due <= now) this.#watchDelayed(now);
  }

  /** Lets the requests that are due expire, but not before the reply that tells whether their reservations stand is overdue. */
  #watchDelayed(now: number): void {
    if (this.#watchedIn === this.calls.count) return;
    this.#watchedIn = this.calls.count;
    this.parts.queue.watchReserved(now + this.calls.replyAllowance);
  }

  /** Grants the first request, and those after it that nothing tells apart from it. */
  #grantFirst(): void {
    const { queue, reservations, reporter } = this.parts;
    const { moments } = reservations;
    const { first } = moments;
    const request = queue.first!;
    do {
      const grant = moments.shift();
      const data = request.dataOf(0);
      queue.removeOne(request);
      this.granted++;
      reporter.granted(request.waiter, grant, data);
    } while (
      queue.first === request &&
      moments.first === first &&
      queue.settled.isEmpty &&
      !this.changes.isPausing
    );
  }

  #sendLookups(): void {
    const { clock, queue, waitEstimate } = this.parts;
    if (this.lookups.areWaiting) this.lookups.send(queue, waitEstimate.mustWait(clock.now()));
  }
}
