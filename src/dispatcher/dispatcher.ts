import type { Clock } from '../clock.ts';
import { LimiterClosedError, QueueOverflowError } from '../errors.ts';
import type { Cost, NamedLimits } from '../limits/cost.ts';
import { LimiterEvents } from '../port/events.ts';
import type { Grant, Waiter } from '../port/line.ts';
import { type DecideReply, debt, type Ledger, type Reply, type ReserveReply } from '../stores/store.ts';
import { type Call, gather } from './batch.ts';
import { endOfTurn, nextTurn } from './endOfTurn.ts';
import { FairShare } from './fairShare.ts';
import { FleetChanges } from './fleetChanges.ts';
import type { LineParts } from './lineParts.ts';
import { Lookups } from './lookups.ts';
import { Queue } from './queue.ts';
import { type Refunded, Refunds } from './refunds.ts';
import { RefusalCache } from './refusalCache.ts';
import { applyReply } from './reply.ts';
import { Reporter } from './reporter.ts';
import { goneRequest, Request } from './request.ts';
import { Reservations } from './reservations.ts';
import { Timer } from './timer.ts';
import { Transit } from './transit.ts';
import { WaitEstimate } from './waitEstimate.ts';

/**
 * Milliseconds after which a line that waits asks again: the fleet may pause, or have another rate by now. Two seconds after
 * a change that is taken to be known everywhere: the rest is for the call.
 */
const heartbeat = 1_500;
/** The least time by which the line moves up, and the least time between two such moves: milliseconds. */
const leastMove = 20;
const leastPause = 100;
/** Milliseconds after which all clients with waiting requests have called again: reservations further ahead can be made void. */
const heard = 2_000;
/** A timer that fires so many milliseconds after its time may have waited for a blocked event loop. */
const lateTimer = 1;
/** Milliseconds that closing waits for a store that does not answer. */
const longestGoodbye = 1_000;

/** Milliseconds, and mean round trips, that the store may take to answer before those it has not answered count as waiting. */
const leastPatience = 100;
const tripsOfPatience = 4;

/** What a dispatcher works with. */
export interface DispatcherOptions {
  name: string;
  named: NamedLimits;
  ledger: Ledger;
  clock: Clock;
  maxQueue: number;
  /** Whether nobody else can steer the limit. */
  alone?: boolean;
  /** Who is told what happens. */
  events?: LimiterEvents | undefined;
  /** Whether the store has something to answer that was asked without the dispatcher. */
  isBusy?: () => boolean;
}

/**
 * The line of one limiter in one process.
 *
 * At most one call is under way, and one timer is set; all that is asked for meanwhile goes into the next call. Waiters
 * are told from one loop alone, so that whatever they do in turn finds the line in order, and nothing recurses.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #events: LimiterEvents;
  readonly #reporter: Reporter;
  readonly #fleetChanges: FleetChanges;
  readonly #queue: Queue;
  readonly #refunds: Refunds;
  readonly #reservations: Reservations;
  readonly #fairShare: FairShare;
  readonly #refusals = new RefusalCache();
  readonly #parts: LineParts;
  readonly #waitEstimate: WaitEstimate;
  readonly #timer: Timer;
  #call: Call | undefined;
  readonly #lookups = new Lookups(() => this.tellIdle());
  readonly #goOn = () => this.#pump();
  #epoch = 0;
  /** When a line that waits asks again, come what may. */
  #beat = Infinity;
  /** When the last call was sent that the store has answered. */
  #answered = -Infinity;
  /** Whether permits have come back that the line may not count on yet. */
  #freed = false;
  /** When the line was booked anew last. */
  #movedAt = -Infinity;
  /** Whether anyone who hears of it has joined without being known to have to wait. */
  #untold = false;
  /** Changes for the fleet that are under way. */
  #steering = 0;
  /** Pauses that the store has not heard of yet: nothing is granted meanwhile. */
  #pausing = 0;
  #pumping = false;
  #again = false;
  #scheduled = false;
  /** Whether requests that have run out of time wait for a look at what has come in, or have had it. */
  #looks: 'first' | 'again' | undefined;
  #closed = false;
  #whenIdle: (() => void)[] = [];
  #calls = 0;
  #granted = 0;

  constructor(options: DispatcherOptions) {
    const { name, ledger, clock, named } = options;
    this.#options = options;
    this.#events = options.events ?? new LimiterEvents(name);
    this.#reporter = new Reporter(named, this.#events, () => ledger.source);
    this.#queue = new Queue(named.limits.length);
    this.#fleetChanges = new FleetChanges(ledger, this.#events, this.#reporter);
    this.#refunds = new Refunds(ledger, (...answer) => this.#fleetChanges.gaveBack(...answer));
    this.#reservations = new Reservations(this.#queue, this.#refunds, () => clock.now());
    this.#fairShare = new FairShare(ledger);
    this.#parts = {
      name,
      named,
      ledger,
      queue: this.#queue,
      reservations: this.#reservations,
      fairShare: this.#fairShare,
      refusals: this.#refusals,
      transit: new Transit(),
    };
    this.#waitEstimate = new WaitEstimate(this.#parts);
    this.#timer = new Timer(clock, this.#goOn);
  }

  get stats() {
    const reserved = this.#reservations.moments.count;
    const { contenders, roundTrip } = this.#fairShare;
    return {
      queued: this.#queue.waiting - reserved,
      reserved,
      calls: this.#calls,
      granted: this.#granted,
      contenders,
      roundTrip,
    };
  }

  /** Whether nobody waits, and nothing is booked or under way. */
  get idle(): boolean {
    return !this.#queue.first && this.#queue.settled.none && !this.#underWay;
  }

  /** Whether the store has anything to answer. */
  get #underWay(): boolean {
    return this.#call !== undefined || this.#steering > 0 || !this.#refunds.idle || !this.#lookups.idle;
  }

  /** Whether the limits of the ledger are those in force; where nobody waits, the store says so as soon as it is asked. */
  get knowsLimits(): boolean {
    if (this.#options.ledger.sync) return true;
    return this.#queue.first !== undefined && this.now() < this.#answered + heartbeat;
  }

  get closed(): boolean {
    return this.#closed;
  }

  now(): number {
    return this.#options.clock.now();
  }

  /**
   * The quick way: takes permits that are there at once, where nobody waits, and nobody is to be told of it. The store looks
   * whether anything else stands in the way.
   */
  take(cost: Cost): Grant | undefined {
    const { ledger } = this.#options;
    if (!ledger.sync || !this.#isClear || this.#fairShare.contenders > 1) return undefined;
    const grant = ledger.take?.(cost);
    if (!grant) return undefined;
    this.#calls++;
    this.#granted++;
    return grant;
  }

  /** Whether nobody waits or is being told of anything, and nobody listens. */
  get #isClear(): boolean {
    if (this.#pumping || this.#closed || this.#pausing > 0) return false;
    return !this.#queue.first && !this.#events.observed;
  }

  /** Grants a request the quick way, if that is open. What is asked for meanwhile comes after it. */
  #grant<T>(waiter: Waiter<T>, cost: Cost, data: T): boolean {
    const grant = this.take(cost);
    if (!grant) return false;
    this.#pumping = true;
    try {
      waiter.granted(grant, data);
    } finally {
      this.#pumping = false;
      if (this.#again) this.#pump();
    }
    return true;
  }

  /** Joins the line with one request, perhaps in place of another one of the same waiter. */
  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, replaces?: Request): Request {
    if (!replaces && this.#grant(waiter, cost, data)) return goneRequest;
    const deadline = timeout === Infinity ? Infinity : this.now() + timeout;
    const request = new Request(waiter as Waiter<unknown>, cost, 1, timeout, deadline, data);
    // A moment that is booked already is left to whoever comes instead.
    const booked = replaces?.stage === 'booked';
    if (waiter.delayed && !this.#hasToWait) this.#untold = true;
    if (replaces && !booked) this.#remove(replaces);
    if (this.#isRefused(request, booked ? 1 : 0)) request.stage = 'gone';
    else {
      this.#waitEstimate.judge(request, this.now());
      this.#join(request);
    }
    if (replaces && booked) this.#remove(replaces);
    if (replaces || request.stage !== 'gone') this.#wake();
    if (timeout > 0 && timeout < Infinity && (request.stage === 'queued' || request.stage === 'sent')) {
      this.#allow(request, timeout);
      this.#queue.deadlines.add(request);
      if (!this.#pumping) this.#setTimer();
    }
    return request;
  }

  /** Gives a request whose first answer is on its way some time for that to come, where it has less. */
  #allow(request: Request, timeout: number): void {
    const { sync } = this.#options.ledger;
    if (sync || timeout >= this.#patience || this.#hasToWait) return;
    request.calls = this.#calls;
    request.expires += this.#patience - timeout;
    this.#queue.unanswered.add(request);
  }

  /** Milliseconds that the store may take to answer. */
  get #patience(): number {
    return Math.max(leastPatience, tripsOfPatience * this.#fairShare.roundTrip);
  }

  /** Whether whoever joins the line has to wait, or is taken to, as the store takes long to answer. */
  get waits(): boolean {
    return this.#hasToWait || this.#isOverdue;
  }

  get #isOverdue(): boolean {
    return this.#call !== undefined && this.now() > this.#call.sent + this.#patience;
  }

  /** Whether whoever joins the line has to wait. */
  get #hasToWait(): boolean {
    return this.#pausing > 0 || this.#waitEstimate.stands(this.now());
  }

  /** Joins the line with one more request that only counts. */
  count(waiter: Waiter<undefined>, cost: Cost): void {
    if (this.#grant(waiter, cost, undefined)) return;
    const hasRoom = !this.#closed && this.#queue.waiting < this.#options.maxQueue;
    if (hasRoom && this.#extend(waiter, cost)) return;
    const request = new Request(waiter as Waiter<unknown>, cost, 1, Infinity, Infinity, undefined);
    if (this.#isRefused(request) || this.#extend(waiter, cost)) return;
    this.#join(request);
    this.#wake();
  }

  /** Counts one request more in the last request, if that is of the same waiter and asks for the same. */
  #extend(waiter: Waiter<undefined>, cost: Cost): boolean {
    // Who comes after a question must not join those before it.
    if (this.#lookups.waiting || !this.#queue.extend(waiter as Waiter<unknown>, cost)) return false;
    this.#reporter.queued(cost);
    return true;
  }

  #join(request: Request): void {
    this.#queue.join(request);
    this.#reporter.queued(request.cost);
  }

  /** Takes the requests of an request out of the line. */
  cancel(request: Request): void {
    if (request.stage === 'gone') return;
    this.#remove(request);
    this.#wake();
    this.#reporter.cancelled(request.cost, request.count);
  }

  /** Takes all requests of a waiter out of the line. */
  cancelAll(waiter: Waiter<never>): void {
    const left: Request[] = [];
    // From the newest, so that none of them moves up, and nothing is granted before all have left.
    for (let request = this.#queue.newestOf(waiter as Waiter<unknown>); request; ) {
      const { older } = request;
      this.#remove(request);
      left.push(request);
      request = older;
    }
    // It cannot tell what it had asked ahead from what it asks next.
    if ((waiter as Waiter<unknown>).prefetches) this.#queue.settled.forget(waiter as Waiter<unknown>);
    this.#wake();
    for (const { cost, count } of left) this.#reporter.cancelled(cost, count);
  }

  #remove(request: Request): void {
    if (request.stage === 'booked') {
      this.#reservations.free(request);
      this.#refusals.forget();
    } else if (request.stage !== 'gone') this.#queue.leave(request);
  }

  /** Gives a grant back that was not used; `settled` is called once the store has answered. */
  refund(grant: Grant, settled?: Refunded): void {
    this.#freed = true;
    this.#moveUp();
    this.#refunds.add(grant, 1, settled);
    this.#refusals.forget();
    this.#waitEstimate.retryAt = 0;
    this.#wake();
  }

  /** Charges what was used without being granted; `settled` is called once the store has answered. */
  charge(grant: Grant, settled: Refunded): void {
    this.#refunds.add({ ...grant, moment: debt }, 1, settled);
    this.#wake();
  }

  /**
   * Permits have come back: what is booked further ahead than it may have to be now is booked anew. Its reservations go back
   * before those permits do, and are asked for again on the same connection. Where other clients have lines, too, the store
   * grants what came back in front of them; and it makes void what is so far ahead that every client hears of it in time, as
   * soon as it is asked again.
   */
  #moveUp(): void {
    if (!this.#freed || this.#call || this.now() < this.#movedAt + leastPause) return;
    const isAlone = this.#fairShare.contenders === 1;
    // Else they would come back after they have been asked for again.
    if (!isAlone && this.#refunds.underWay) return;
    this.#freed = false;
    const { first, last } = this.#reservations.moments;
    const now = this.now();
    if (!first || !last) return;
    const isFar = first.due - now >= Math.max(leastMove, this.#fairShare.shortest / 100);
    if (isFar && (isAlone || this.#fairShare.isOfWindows)) {
      this.#movedAt = now;
      this.#reservations.unbook(() => true);
      this.#waitEstimate.retryAt = 0;
    } else if (!isAlone && last.due - now >= heard) {
      this.#movedAt = now;
      this.#beat = -Infinity;
    }
  }

  /** Takes the cost if it is there at once, behind those who came before. */
  decide(cost: Cost, reply: Reply<DecideReply>): void {
    const decided: Reply<DecideReply> = (error, decision) => {
      if (decision?.granted) this.#granted++;
      this.decided(cost, error, decision);
      reply(error, decision);
    };
    const { ledger } = this.#options;
    if (ledger.sync && this.#isClear) ledger.decide(cost, decided);
    else this.#put((done) => ledger.decide(cost, done, this.#lastMoment), decided);
  }

  /** The last moment that is booked here. */
  get #lastMoment(): Grant | undefined {
    return this.#reservations.moments.last?.grant;
  }

  /** Tells those who listen of a decision. */
  decided(cost: Cost, error: Error | null, decision: DecideReply | undefined): void {
    this.#reporter.decided(cost, error, decision);
  }

  /** Says what could be granted at once, behind those who came before. */
  peek(reply: Reply<number[]>): void {
    this.#put((done) => this.#options.ledger.peek(done), reply);
  }

  #put<T>(question: (done: Reply<T>) => void, reply: Reply<T>): void {
    this.#lookups.add(question, reply, this.#queue.last);
    if (this.#closed) this.#lookups.refuse(new LimiterClosedError(this.#options.name));
    else this.#wake();
  }

  /** Changes what holds for the whole fleet, and asks at once what that means for those who wait here. */
  changeLimit<T>(
    change: (done: Reply<T>) => void,
    reply: Reply<T>,
    apply: (value: T | undefined) => void = () => {},
  ): void {
    if (this.#closed) {
      reply(new LimiterClosedError(this.#options.name));
      return;
    }
    this.#steering++;
    change((error, value) => {
      this.#steering--;
      if (error) this.#events.failed(error);
      this.#pump(() => {
        this.#askAgain();
        apply(value);
        this.#fleetChanges.rate();
      });
      reply(error, value);
    });
  }

  /** Lets the fleet pause: nothing is granted here from now on. The change answers how many milliseconds it lasts. */
  pause(change: (done: Reply<number>) => void, reply: Reply<number>): void {
    this.#pausing++;
    this.#queue.watchBooked();
    if (!this.#pumping) this.#setTimer();
    this.changeLimit(change, reply, (ms = 0) => {
      this.#pausing--;
      if (ms === 0) return;
      const end = this.now() + ms;
      if (this.#call) this.#call.pausedUntil = end;
      this.#reservations.unbook(({ due }) => due < end);
      this.#fleetChanges.pause(ms, this.now());
    });
  }

  /** Forgets what was granted, and lifts a pause. */
  forget(change: (done: Reply<void>) => void, reply: Reply<void>): void {
    this.changeLimit(change, reply, () => this.#fleetChanges.lifted());
  }

  #askAgain(): void {
    this.#refusals.forget();
    this.#waitEstimate.retryAt = 0;
    this.#beat = -Infinity;
  }

  /** Refuses all who wait, gives back what is booked, and resolves when nothing is under way any more, or within a second. */
  close(): Promise<void> {
    this.#closed = true;
    // One for all: a stack for each of a long line would block the loop for seconds.
    const error = new LimiterClosedError(this.#options.name);
    for (const request of this.#queue.requests()) this.#queue.refuse(request, error);
    this.#reservations.giveBackAll();
    this.#lookups.refuse(error);
    const closed = new Promise<void>((resolve) => {
      // A store that does not answer must not keep the caller: what it still books is lost until it comes back by itself.
      const cancel = this.#options.clock.after(longestGoodbye, resolve);
      this.#whenIdle.push(cancel, resolve);
      this.#pump();
    });
    return closed.then(() => this.#events.close());
  }

  /** Refuses at the door who cannot wait, or would wait in vain, and says whether it did. */
  #isRefused(request: Request, leaving = 0): boolean {
    const { name, maxQueue } = this.#options;
    const { cost, timeout } = request;
    if (this.#closed) this.#reporter.refused(request, new LimiterClosedError(name));
    else if (timeout > 0 && this.#isFull(leaving) && !this.#makeRoom(request.waiter, leaving))
      this.#reporter.refused(request, new QueueOverflowError(name, maxQueue));
    else {
      const known = timeout === 0 || (timeout < Infinity && this.knowsLimits && !leaving && !this.#isDue);
      const wait = known ? this.#knownWait(cost, timeout) : 0;
      if (wait <= timeout) return false;
      if (timeout > 0) this.#reporter.queued(cost);
      this.#reporter.late(request, wait === Infinity ? undefined : wait);
    }
    return true;
  }

  /** Whether one more request would be one too many: only those count that are known to wait, unless the store is slow. */
  #isFull(leaving: number): boolean {
    const { maxQueue } = this.#options;
    if (this.#queue.waiting - leaving < maxQueue) return false;
    const now = this.now();
    if (this.#isOverdue) return true;
    if (this.#pausing === 0 && !this.#waitEstimate.stands(now)) return false;
    return this.#queue.waiting - this.#reservations.moments.countDue(now) - leaving >= maxQueue;
  }

  /** Refuses what others have asked ahead, as long as the line is full, and says whether it no longer is. */
  #makeRoom(waiter: Waiter<unknown>, leaving: number): boolean {
    while (this.#isFull(leaving)) {
      const ahead = this.#queue.askedAhead(waiter);
      if (!ahead) return false;
      this.#refuseOverflow(ahead);
      this.#wake();
    }
    return true;
  }

  #refuseOverflow(request: Request): void {
    const { name, maxQueue } = this.#options;
    this.#remove(request);
    this.#queue.settled.refused(request, new QueueOverflowError(name, maxQueue));
  }

  /** Refuses what was asked ahead, and then the newest of those who turn out to have to wait, beyond as many as may. */
  #refuseSurplus(): void {
    const { maxQueue } = this.#options;
    if (this.#queue.waiting <= maxQueue || !this.#hasToWait) return;
    const surplus = () => this.#queue.waiting - this.#reservations.moments.countDue(this.now()) - maxQueue;
    for (let left = surplus(); left > 0 && this.#queue.last; left = surplus()) {
      const request = this.#queue.askedAhead() ?? this.#queue.last;
      if (left < request.count) this.#queue.splitFront(request, request.count - left);
      this.#refuseOverflow(request);
    }
    this.#again ||= !this.#queue.settled.none;
  }

  /** Tells those who have bounds of their own that what they have asked for has to wait. */
  #tellOfWait(): void {
    if (!this.#untold || !this.#hasToWait) return;
    this.#untold = false;
    // Some may leave when they hear of it.
    for (const waiter of [...this.#queue.bounded]) {
      const newest = this.#queue.newestOf(waiter);
      if (newest) waiter.delayed!(newest.data);
    }
  }

  /** Whether somebody in front is to be granted first: nobody is refused before that. */
  get #isDue(): boolean {
    const { first } = this.#reservations.moments;
    return first !== undefined && first.due <= this.now();
  }

  #knownWait(cost: Cost, timeout: number): number {
    const now = this.now();
    return this.#waitEstimate.waitFor(cost, timeout, now, this.#call?.sent ?? now);
  }

  /** Looks after the line: now where the store answers at once, else when this turn has said all that it asks for. */
  #wake(): void {
    if (this.#options.ledger.sync || this.#pumping) {
      this.#pump();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    endOfTurn(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  /** Does all that can be done for the line now, after some work on it. */
  #pump(work?: () => void): void {
    if (this.#pumping) {
      work?.();
      this.#again = true;
      return;
    }
    const { ledger } = this.#options;
    this.#pumping = true;
    try {
      work?.();
      do {
        this.#again = false;
        this.#queue.settled.tell(this.#reporter);
        this.#deliver();
        this.#moveUp();
        this.#refuseSurplus();
        this.#tellOfWait();
        this.#refunds.flush(this.#goOn);
        if (this.#lookups.waiting) this.#lookups.ask(this.#waitEstimate.stands(this.now()));
        // A store that answers at once can still grant at the very deadline.
        if (ledger.sync) this.#send();
        if (!this.#again) this.#expire();
        if (!ledger.sync) this.#send();
        if (this.#lookups.waiting) this.#lookups.ask(this.#waitEstimate.stands(this.now()));
      } while (this.#again);
    } finally {
      this.#pumping = false;
      this.#setTimer();
    }
    this.tellIdle();
  }

  /** Something that was under way has been answered. */
  tellIdle(): void {
    if (this.#underWay || this.#options.isBusy?.()) return;
    for (const tell of this.#whenIdle.splice(0)) tell();
  }

  /** Grants what is due, in the order of the line. */
  #deliver(): void {
    const { moments: reservations } = this.#reservations;
    if (!reservations.first) return;
    const now = this.now();
    while (this.#pausing === 0 && reservations.first && reservations.first.due <= now) {
      const request = this.#queue.first!;
      const grant = reservations.shift();
      this.#queue.leaveOne(request);
      this.#granted++;
      this.#reporter.granted(request, grant);
    }
  }

  #expire(): void {
    const { deadlines, settled: news } = this.#queue;
    if (deadlines.next === Infinity || this.#looks === 'first') return;
    const now = this.now();
    const isLate = now - deadlines.next >= lateTimer;
    if (isLate && deadlines.first!.stage === 'sent' && !this.#looks) {
      // An event loop that was blocked runs its timers before it reads the answers that lie in the socket.
      this.#looks = 'first';
      nextTurn(() => {
        this.#looks = 'again';
        this.#pump();
        this.#looks = undefined;
        this.#setTimer();
      });
      return;
    }
    while (deadlines.next <= now) this.#reservations.late(deadlines.first!);
    this.#again ||= !news.none;
  }

  #send(): void {
    const { held } = this.#reservations.moments;
    if (this.#call || !this.#queue.first) return;
    const sent = this.now();
    const wanted = this.#queue.unbooked !== undefined && this.#fairShare.isLow(held);
    const overdue = sent >= this.#beat;
    if (!overdue && (!wanted || sent < this.#waitEstimate.retryAt)) return;
    const runs = wanted ? gather(this.#queue, this.#fairShare, sent, this.#options.ledger.sync) : [];
    const call = { runs, sent, denials: this.#refusals.forgotten, returns: this.#reservations.returns };
    this.#call = call;
    this.#beat = this.#options.alone ? Infinity : sent + heartbeat;
    this.#calls++;
    const { horizon } = this.#fairShare;
    const last = this.#lastMoment;
    const question = { runs: call.runs, horizon, held, epoch: this.#epoch, ...(last ? { last } : {}) };
    this.#options.ledger.reserve(question, (error, reply) => {
      const received = this.now();
      this.#pump(() => {
        this.#call = undefined;
        if (reply) this.#apply(call, reply, received);
        else this.#fail(call, error!);
      });
    });
  }

  #fail({ runs }: Call, error: Error): void {
    for (const { requests } of runs)
      for (const request of requests) if (request.stage === 'sent') this.#queue.refuse(request, error);
    this.#events.failed(error);
  }

  #apply(call: Call, reply: ReserveReply, received: number): void {
    const { retryAfter, paused } = reply;
    if (!this.#options.ledger.sync) this.#fairShare.measured(received - call.sent);
    this.#epoch = reply.epoch;
    this.#answered = call.sent;
    const { last } = this.#reservations.moments;
    applyReply(this.#parts, call, reply, received);
    if (this.#reservations.moments.last !== last) this.#waitEstimate.booked(reply, call.sent, call.returns);
    // One call at a time: those who joined before it was sent have their answer.
    this.#queue.answered(this.#calls);
    const { pausedUntil } = call;
    if (pausedUntil !== undefined) this.#reservations.unbook(({ due }) => due < pausedUntil);
    if (this.#pausing > 0) this.#queue.watchBooked();
    this.#waitEstimate.retryAt = retryAfter === undefined ? 0 : received + retryAfter;
    this.#waitEstimate.refuseHopeless(received, call, reply);
    this.#fleetChanges.rate();
    if (paused !== undefined) this.#fleetChanges.pause(paused, received);
  }

  /** Sets the timer for whatever comes next. */
  #setTimer(): void {
    const { moments: reservations } = this.#reservations;
    const due = this.#pausing > 0 ? undefined : reservations.first?.due;
    const asks = this.#queue.first !== undefined && !this.#call;
    const waits = asks && this.#queue.unbooked && this.#waitEstimate.retryAt > this.now();
    const retry = waits ? this.#waitEstimate.retryAt : Infinity;
    const beat = asks ? this.#beat : Infinity;
    const move = asks && this.#freed ? this.#movedAt + leastPause : Infinity;
    const expiry = this.#looks === 'first' ? Infinity : this.#queue.deadlines.next;
    this.#timer.set(Math.min(due ?? Infinity, retry, beat, move, expiry));
  }
}
