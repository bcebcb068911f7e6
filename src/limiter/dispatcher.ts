import type { Clock } from '../clock.ts';
import { LimiterClosedError, QueueOverflowError } from '../errors.ts';
import {
  type Cost,
  type DecideReply,
  debt,
  type Ledger,
  type Reply,
  type ReserveReply,
} from '../stores/store.ts';
import { Alarm } from './alarm.ts';
import { type Call, gather } from './batch.ts';
import { Bookings } from './bookings.ts';
import type { NamedLimits } from './cost.ts';
import { Denial } from './denial.ts';
import { Entry, goneEntry } from './entry.ts';
import { LimiterEvents } from './events.ts';
import { Herald } from './herald.ts';
import type { Grant, Waiter } from './line.ts';
import type { LineParts } from './lineParts.ts';
import { Notices } from './notices.ts';
import { Outlook } from './outlook.ts';
import { Questions } from './questions.ts';
import { Queue } from './queue.ts';
import { Refunds, type Settled } from './refunds.ts';
import { applyReply } from './reply.ts';
import { Share } from './share.ts';
import { Transit } from './transit.ts';
import { afterTurn, nextTurn } from './turn.ts';

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
  readonly #herald: Herald;
  readonly #notices: Notices;
  readonly #queue: Queue;
  readonly #refunds: Refunds;
  readonly #bookings: Bookings;
  readonly #share: Share;
  readonly #denial = new Denial();
  readonly #parts: LineParts;
  readonly #outlook: Outlook;
  readonly #alarm: Alarm;
  #call: Call | undefined;
  readonly #questions = new Questions(() => this.tellIdle());
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
    this.#herald = new Herald(named, this.#events, () => ledger.source);
    this.#queue = new Queue(named.limits.length);
    this.#notices = new Notices(ledger, this.#events, this.#herald);
    this.#refunds = new Refunds(ledger, (...answer) => this.#notices.gaveBack(...answer));
    this.#bookings = new Bookings(this.#queue, this.#refunds, () => clock.now());
    this.#share = new Share(ledger);
    const [queue, bookings, share, denial] = [this.#queue, this.#bookings, this.#share, this.#denial];
    const transit = new Transit();
    this.#parts = { name, named, ledger, queue, bookings, share, denial, transit };
    this.#outlook = new Outlook(this.#parts);
    this.#alarm = new Alarm(clock, this.#goOn);
  }

  get stats() {
    const reserved = this.#bookings.reservations.count;
    const { contenders, roundTrip } = this.#share;
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
    return !this.#queue.first && this.#queue.news.none && !this.#underWay;
  }

  /** Whether the store has anything to answer. */
  get #underWay(): boolean {
    return this.#call !== undefined || this.#steering > 0 || !this.#refunds.idle || !this.#questions.idle;
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
    if (!ledger.sync || !this.#isClear || this.#share.contenders > 1) return undefined;
    const grant = ledger.take?.(cost);
    if (!grant) return undefined;
    this.#calls++;
    this.#granted++;
    return grant;
  }

  /** Whether nobody waits or is being told of anything, and nobody listens. */
  get #isClear(): boolean {
    if (this.#pumping || this.#closed || this.#pausing > 0) return false;
    return !this.#queue.first && !this.#events.heard;
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
  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T, instead?: Entry): Entry {
    if (!instead && this.#grant(waiter, cost, data)) return goneEntry;
    const deadline = timeout === Infinity ? Infinity : this.now() + timeout;
    const entry = new Entry(waiter as Waiter<unknown>, cost, 1, timeout, deadline, data);
    // A moment that is booked already is left to whoever comes instead.
    const booked = instead?.stage === 'booked';
    if (waiter.waits && !this.#hasToWait) this.#untold = true;
    if (instead && !booked) this.#remove(instead);
    if (this.#isRefused(entry, booked ? 1 : 0)) entry.stage = 'gone';
    else {
      this.#outlook.judge(entry, this.now());
      this.#join(entry);
    }
    if (instead && booked) this.#remove(instead);
    if (instead || entry.stage !== 'gone') this.#wake();
    if (timeout > 0 && timeout < Infinity && (entry.stage === 'queued' || entry.stage === 'sent')) {
      this.#allow(entry, timeout);
      this.#queue.deadlines.add(entry);
      if (!this.#pumping) this.#setAlarm();
    }
    return entry;
  }

  /** Gives a request whose first answer is on its way some time for that to come, where it has less. */
  #allow(entry: Entry, timeout: number): void {
    const { sync } = this.#options.ledger;
    if (sync || timeout >= this.#patience || this.#hasToWait) return;
    entry.calls = this.#calls;
    entry.expires += this.#patience - timeout;
    this.#queue.unanswered.add(entry);
  }

  /** Milliseconds that the store may take to answer. */
  get #patience(): number {
    return Math.max(leastPatience, tripsOfPatience * this.#share.roundTrip);
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
    return this.#pausing > 0 || this.#outlook.stands(this.now());
  }

  /** Joins the line with one more request that only counts. */
  count(waiter: Waiter<undefined>, cost: Cost): void {
    if (this.#grant(waiter, cost, undefined)) return;
    const hasRoom = !this.#closed && this.#queue.waiting < this.#options.maxQueue;
    if (hasRoom && this.#extend(waiter, cost)) return;
    const entry = new Entry(waiter as Waiter<unknown>, cost, 1, Infinity, Infinity, undefined);
    if (this.#isRefused(entry) || this.#extend(waiter, cost)) return;
    this.#join(entry);
    this.#wake();
  }

  /** Counts one request more in the last entry, if that is of the same waiter and asks for the same. */
  #extend(waiter: Waiter<undefined>, cost: Cost): boolean {
    // Who comes after a question must not join those before it.
    if (this.#questions.waiting || !this.#queue.extend(waiter as Waiter<unknown>, cost)) return false;
    this.#herald.queued(cost);
    return true;
  }

  #join(entry: Entry): void {
    this.#queue.join(entry);
    this.#herald.queued(entry.cost);
  }

  /** Takes the requests of an entry out of the line. */
  cancel(entry: Entry): void {
    if (entry.stage === 'gone') return;
    this.#remove(entry);
    this.#wake();
    this.#herald.cancelled(entry.cost, entry.count);
  }

  /** Takes all requests of a waiter out of the line. */
  abandon(waiter: Waiter<never>): void {
    const left: Entry[] = [];
    // From the newest, so that none of them moves up, and nothing is granted before all have left.
    for (let entry = this.#queue.newestOf(waiter as Waiter<unknown>); entry; ) {
      const { older } = entry;
      this.#remove(entry);
      left.push(entry);
      entry = older;
    }
    // It cannot tell what it had asked ahead from what it asks next.
    if ((waiter as Waiter<unknown>).givesWay) this.#queue.news.forget(waiter as Waiter<unknown>);
    this.#wake();
    for (const { cost, count } of left) this.#herald.cancelled(cost, count);
  }

  #remove(entry: Entry): void {
    if (entry.stage === 'booked') {
      this.#bookings.free(entry);
      this.#denial.forget();
    } else if (entry.stage !== 'gone') this.#queue.leave(entry);
  }

  /** Gives a grant back that was not used; `settled` is called once the store has answered. */
  giveBack(grant: Grant, settled?: Settled): void {
    this.#freed = true;
    this.#moveUp();
    this.#refunds.add(grant, 1, settled);
    this.#denial.forget();
    this.#outlook.retryAt = 0;
    this.#wake();
  }

  /** Charges what was used without being granted; `settled` is called once the store has answered. */
  charge(grant: Grant, settled: Settled): void {
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
    const isAlone = this.#share.contenders === 1;
    // Else they would come back after they have been asked for again.
    if (!isAlone && this.#refunds.underWay) return;
    this.#freed = false;
    const { first, last } = this.#bookings.reservations;
    const now = this.now();
    if (!first || !last) return;
    const isFar = first.due - now >= Math.max(leastMove, this.#share.shortest / 100);
    if (isFar && (isAlone || this.#share.isOfWindows)) {
      this.#movedAt = now;
      this.#bookings.unbook(() => true);
      this.#outlook.retryAt = 0;
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
    return this.#bookings.reservations.last?.grant;
  }

  /** Tells those who listen of a decision. */
  decided(cost: Cost, error: Error | null, decision: DecideReply | undefined): void {
    this.#herald.decided(cost, error, decision);
  }

  /** Says what could be granted at once, behind those who came before. */
  peek(reply: Reply<number[]>): void {
    this.#put((done) => this.#options.ledger.peek(done), reply);
  }

  #put<T>(question: (done: Reply<T>) => void, reply: Reply<T>): void {
    this.#questions.add(question, reply, this.#queue.last);
    if (this.#closed) this.#questions.refuse(new LimiterClosedError(this.#options.name));
    else this.#wake();
  }

  /** Changes what holds for the whole fleet, and asks at once what that means for those who wait here. */
  steer<T>(
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
        this.#notices.rate();
      });
      reply(error, value);
    });
  }

  /** Lets the fleet pause: nothing is granted here from now on. The change answers how many milliseconds it lasts. */
  pause(change: (done: Reply<number>) => void, reply: Reply<number>): void {
    this.#pausing++;
    this.#queue.watchBooked();
    if (!this.#pumping) this.#setAlarm();
    this.steer(change, reply, (ms = 0) => {
      this.#pausing--;
      if (ms === 0) return;
      const end = this.now() + ms;
      if (this.#call) this.#call.pausedUntil = end;
      this.#bookings.unbook(({ due }) => due < end);
      this.#notices.pause(ms, this.now());
    });
  }

  /** Forgets what was granted, and lifts a pause. */
  forget(change: (done: Reply<void>) => void, reply: Reply<void>): void {
    this.steer(change, reply, () => this.#notices.lifted());
  }

  #askAgain(): void {
    this.#denial.forget();
    this.#outlook.retryAt = 0;
    this.#beat = -Infinity;
  }

  /** Refuses all who wait, gives back what is booked, and resolves when nothing is under way any more, or within a second. */
  close(): Promise<void> {
    this.#closed = true;
    // One for all: a stack for each of a long line would block the loop for seconds.
    const error = new LimiterClosedError(this.#options.name);
    for (const entry of this.#queue.entries()) this.#queue.refuse(entry, error);
    this.#bookings.giveBackAll();
    this.#questions.refuse(error);
    const closed = new Promise<void>((resolve) => {
      // A store that does not answer must not keep the caller: what it still books is lost until it comes back by itself.
      const cancel = this.#options.clock.after(longestGoodbye, resolve);
      this.#whenIdle.push(cancel, resolve);
      this.#pump();
    });
    return closed.then(() => this.#events.close());
  }

  /** Refuses at the door who cannot wait, or would wait in vain, and says whether it did. */
  #isRefused(entry: Entry, leaving = 0): boolean {
    const { name, maxQueue } = this.#options;
    const { cost, timeout } = entry;
    if (this.#closed) this.#herald.refused(entry, new LimiterClosedError(name));
    else if (timeout > 0 && this.#isFull(leaving) && !this.#makeRoom(entry.waiter, leaving))
      this.#herald.refused(entry, new QueueOverflowError(name, maxQueue));
    else {
      const known = timeout === 0 || (timeout < Infinity && this.knowsLimits && !leaving && !this.#isDue);
      const wait = known ? this.#knownWait(cost, timeout) : 0;
      if (wait <= timeout) return false;
      if (timeout > 0) this.#herald.queued(cost);
      this.#herald.late(entry, wait === Infinity ? undefined : wait);
    }
    return true;
  }

  /** Whether one more request would be one too many: only those count that are known to wait, unless the store is slow. */
  #isFull(leaving: number): boolean {
    const { maxQueue } = this.#options;
    if (this.#queue.waiting - leaving < maxQueue) return false;
    const now = this.now();
    if (this.#isOverdue) return true;
    if (this.#pausing === 0 && !this.#outlook.stands(now)) return false;
    return this.#queue.waiting - this.#bookings.reservations.countDue(now) - leaving >= maxQueue;
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

  #refuseOverflow(entry: Entry): void {
    const { name, maxQueue } = this.#options;
    this.#remove(entry);
    this.#queue.news.refused(entry, new QueueOverflowError(name, maxQueue));
  }

  /** Refuses what was asked ahead, and then the newest of those who turn out to have to wait, beyond as many as may. */
  #refuseSurplus(): void {
    const { maxQueue } = this.#options;
    if (this.#queue.waiting <= maxQueue || !this.#hasToWait) return;
    const surplus = () => this.#queue.waiting - this.#bookings.reservations.countDue(this.now()) - maxQueue;
    for (let left = surplus(); left > 0 && this.#queue.last; left = surplus()) {
      const entry = this.#queue.askedAhead() ?? this.#queue.last;
      if (left < entry.count) this.#queue.splitFront(entry, entry.count - left);
      this.#refuseOverflow(entry);
    }
    this.#again ||= !this.#queue.news.none;
  }

  /** Tells those who have bounds of their own that what they have asked for has to wait. */
  #tellOfWait(): void {
    if (!this.#untold || !this.#hasToWait) return;
    this.#untold = false;
    // Some may leave when they hear of it.
    for (const waiter of [...this.#queue.bounded]) {
      const newest = this.#queue.newestOf(waiter);
      if (newest) waiter.waits!(newest.data);
    }
  }

  /** Whether somebody in front is to be granted first: nobody is refused before that. */
  get #isDue(): boolean {
    const { first } = this.#bookings.reservations;
    return first !== undefined && first.due <= this.now();
  }

  #knownWait(cost: Cost, timeout: number): number {
    const now = this.now();
    return this.#outlook.waitFor(cost, timeout, now, this.#call?.sent ?? now);
  }

  /** Looks after the line: now where the store answers at once, else when this turn has said all that it asks for. */
  #wake(): void {
    if (this.#options.ledger.sync || this.#pumping) {
      this.#pump();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    afterTurn(() => {
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
        this.#queue.news.tell(this.#herald);
        this.#deliver();
        this.#moveUp();
        this.#refuseSurplus();
        this.#tellOfWait();
        this.#refunds.flush(this.#goOn);
        if (this.#questions.waiting) this.#questions.ask(this.#outlook.stands(this.now()));
        // A store that answers at once can still grant at the very deadline.
        if (ledger.sync) this.#send();
        if (!this.#again) this.#expire();
        if (!ledger.sync) this.#send();
        if (this.#questions.waiting) this.#questions.ask(this.#outlook.stands(this.now()));
      } while (this.#again);
    } finally {
      this.#pumping = false;
      this.#setAlarm();
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
    const { reservations } = this.#bookings;
    if (!reservations.first) return;
    const now = this.now();
    while (this.#pausing === 0 && reservations.first && reservations.first.due <= now) {
      const entry = this.#queue.first!;
      const grant = reservations.shift();
      this.#queue.leaveOne(entry);
      this.#granted++;
      this.#herald.granted(entry, grant);
    }
  }

  #expire(): void {
    const { deadlines, news } = this.#queue;
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
        this.#setAlarm();
      });
      return;
    }
    while (deadlines.next <= now) this.#bookings.late(deadlines.first!);
    this.#again ||= !news.none;
  }

  #send(): void {
    const { held } = this.#bookings.reservations;
    if (this.#call || !this.#queue.first) return;
    const sent = this.now();
    const wanted = this.#queue.unbooked !== undefined && this.#share.isLow(held);
    const overdue = sent >= this.#beat;
    if (!overdue && (!wanted || sent < this.#outlook.retryAt)) return;
    const runs = wanted ? gather(this.#queue, this.#share, sent, this.#options.ledger.sync) : [];
    const call = { runs, sent, denials: this.#denial.forgotten, returns: this.#bookings.returns };
    this.#call = call;
    this.#beat = this.#options.alone ? Infinity : sent + heartbeat;
    this.#calls++;
    const { horizon } = this.#share;
    const last = this.#lastMoment;
    const request = { runs: call.runs, horizon, held, epoch: this.#epoch, ...(last ? { last } : {}) };
    this.#options.ledger.reserve(request, (error, reply) => {
      const received = this.now();
      this.#pump(() => {
        this.#call = undefined;
        if (reply) this.#apply(call, reply, received);
        else this.#fail(call, error!);
      });
    });
  }

  #fail({ runs }: Call, error: Error): void {
    for (const { entries } of runs)
      for (const entry of entries) if (entry.stage === 'sent') this.#queue.refuse(entry, error);
    this.#events.failed(error);
  }

  #apply(call: Call, reply: ReserveReply, received: number): void {
    const { retryAfter, paused } = reply;
    if (!this.#options.ledger.sync) this.#share.measured(received - call.sent);
    this.#epoch = reply.epoch;
    this.#answered = call.sent;
    const { last } = this.#bookings.reservations;
    applyReply(this.#parts, call, reply, received);
    if (this.#bookings.reservations.last !== last) this.#outlook.booked(reply, call.sent, call.returns);
    // One call at a time: those who joined before it was sent have their answer.
    this.#queue.answered(this.#calls);
    const { pausedUntil } = call;
    if (pausedUntil !== undefined) this.#bookings.unbook(({ due }) => due < pausedUntil);
    if (this.#pausing > 0) this.#queue.watchBooked();
    this.#outlook.retryAt = retryAfter === undefined ? 0 : received + retryAfter;
    this.#outlook.refuseHopeless(received, call, reply);
    this.#notices.rate();
    if (paused !== undefined) this.#notices.pause(paused, received);
  }

  /** Sets the timer for whatever comes next. */
  #setAlarm(): void {
    const { reservations } = this.#bookings;
    const due = this.#pausing > 0 ? undefined : reservations.first?.due;
    const asks = this.#queue.first !== undefined && !this.#call;
    const waits = asks && this.#queue.unbooked && this.#outlook.retryAt > this.now();
    const retry = waits ? this.#outlook.retryAt : Infinity;
    const beat = asks ? this.#beat : Infinity;
    const move = asks && this.#freed ? this.#movedAt + leastPause : Infinity;
    const expiry = this.#looks === 'first' ? Infinity : this.#queue.deadlines.next;
    this.#alarm.set(Math.min(due ?? Infinity, retry, beat, move, expiry));
  }
}
