import type { ReserveReply } from '../stores/store.ts';
import { WorkQueue } from '../workQueue.ts';
import { Admission } from './admission.ts';
import { Expiry } from './expiry.ts';
import type { Call } from './gather.ts';
import { Granting } from './granting.ts';
import { LimitChanges } from './limitChanges.ts';
import { Lookups } from './lookups.ts';
import { Loop, type LoopPasses } from './loop.ts';
import { type DispatcherOptions, type Parts, partsOf } from './parts.ts';
import { ReplyPrefetch } from './replyPrefetch.ts';
import { Rescheduler } from './rescheduler.ts';
import { type Replies, ReserveCalls } from './reserveCalls.ts';
import { Timer } from './timer.ts';

/** The passes of a dispatcher. Each runs callbacks and sends calls; after the last, the one timer is set for the next pass. */
export class Passes implements LoopPasses, Replies {
  readonly parts: Parts;
  readonly calls: ReserveCalls;
  readonly changes: LimitChanges;
  readonly admission: Admission;
  readonly granting: Granting;
  readonly expiry: Expiry;
  readonly rescheduler: Rescheduler;
  readonly prefetch: ReplyPrefetch;
  readonly lookups = new Lookups();
  readonly #timer: Timer;
  readonly #run: () => void;
  #whenIdle: (() => void)[] = [];

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
    this.granting = new Granting(parts, this.calls, this.changes, this.#run);
    this.expiry = new Expiry(parts, this.calls, this.admission);
    this.prefetch = new ReplyPrefetch(parts);
    this.rescheduler = new Rescheduler(parts, this.calls, this.granting);
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
    this.granting.run();
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
    const { hopeless, loop, queue, refunds } = this.parts;
    this.calls.siblings.note(queue.first !== undefined);
    const { granting, calls, rescheduler, expiry } = this;
    this.#timer.set(
      Math.min(granting.next, calls.next, rescheduler.next, expiry.next, hopeless.next, refunds.next),
    );
    if (this.prefetch.settle()) loop.wake();
    this.reportIdle();
  }

  grants(call: Call, reply: ReserveReply, received: number): boolean {
    const granted = this.granting.replied(call, reply, received);
    if (!this.parts.ledger.sync) this.prefetch.replied(granted, call, reply, received);
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
    if (this.#whenIdle.length === 0 || this.granting.isResting || this.isCalling || this.parts.isBusy?.())
      return;
    for (const callback of this.#whenIdle.splice(0)) callback();
  }

  #sendLookups(): void {
    const { clock, queue, waitEstimate } = this.parts;
    // A lookup would count what is held as taken.
    if (this.lookups.areWaiting && !this.prefetch.isHolding)
      this.lookups.send(queue, waitEstimate.mustWait(clock.now()));
  }
}
