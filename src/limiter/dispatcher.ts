import type { CancelTimer, Clock } from '../clock.ts';
import { LimiterClosedError, PermitsExceedLimitError, QueueOverflowError } from '../errors.ts';
import { type Cost, type Ledger, outcome, type ReserveReply, type Segment } from '../stores/store.ts';
import { gather, type SentRun, splitFront } from './batch.ts';
import { type NamedLimits, permitsOf } from './cost.ts';
import { Deadlines } from './deadlines.ts';
import { Entry, EntryList, sameCost } from './entry.ts';
import type { Grant, Waiter } from './line.ts';
import { Refunds } from './refunds.ts';
import { Reservations } from './reservations.ts';
import { Share } from './share.ts';
import { afterTurn } from './turn.ts';

/** What a dispatcher works with. */
export interface DispatcherOptions {
  name: string;
  named: NamedLimits;
  ledger: Ledger;
  clock: Clock;
  maxQueue: number;
}

/** What a waiter is told, once the line is in order again. */
type News = (waiter: Waiter<unknown>, data: unknown) => void;

/**
 * The line of one limiter in one process: requests in the order in which they came, those at its head booked.
 *
 * At most one call is under way, and one timer is set. Everything that is asked for meanwhile goes into the next call.
 * Waiters are told from one loop alone, so that whatever they do in turn finds the line in order, and nothing recurses.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #line = new EntryList();
  readonly #reservations = new Reservations();
  readonly #deadlines = new Deadlines();
  readonly #refunds: Refunds;
  readonly #share: Share;
  /** The first entry that is not booked. */
  #unbooked: Entry | undefined;
  #call: SentRun[] | undefined;
  #epoch = 0;
  /** Requests in the line. */
  #waiting = 0;
  /** Entries in the line that will not wait and are not sent. */
  #hasty = 0;
  /** Until when a request that is no smaller than this one need not be asked for. */
  #denied: { cost: Cost; until: number; since: number; retryAfter: number } | undefined;
  /** Before this time a store that cannot book is not asked again. */
  #retryAt = 0;
  #news: { entry: Entry; news: News }[] = [];
  #pumping = false;
  #again = false;
  #scheduled = false;
  #timer: CancelTimer | undefined;
  #timerAt = Infinity;
  #closed = false;
  #idle: (() => void)[] = [];
  #calls = 0;
  #granted = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#refunds = new Refunds(options.ledger);
    this.#share = new Share(options.named.limits);
  }

  get stats() {
    return {
      queued: this.#waiting - this.#reservations.count,
      reserved: this.#reservations.count,
      calls: this.#calls,
      granted: this.#granted,
      contenders: this.#share.contenders,
      roundTrip: this.#share.roundTrip,
    };
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether others of this process stand in the line and have to wait. */
  get stands(): boolean {
    const now = this.now();
    const { last } = this.#reservations;
    return (last !== undefined && last.due > now) || (this.#unbooked !== undefined && this.#retryAt > now);
  }

  now(): number {
    return this.#options.clock.now();
  }

  ask<T>(waiter: Waiter<T>, cost: Cost, timeout: number, data: T): Entry {
    const deadline = timeout === Infinity ? Infinity : this.now() + timeout;
    const entry = new Entry(waiter as Waiter<unknown>, cost, 1, timeout, deadline, data);
    const refusal = this.#refusal(cost, timeout);
    if (refusal) {
      entry.stage = 'gone';
      refusal(entry.waiter, data);
      return entry;
    }
    this.#join(entry);
    if (timeout === 0) this.#hasty++;
    this.#wake();
    if (timeout > 0 && timeout < Infinity && (entry.stage === 'queued' || entry.stage === 'sent')) {
      this.#deadlines.add(entry);
      if (!this.#pumping) this.#arm();
    }
    return entry;
  }

  count(waiter: Waiter<undefined>, cost: Cost): void {
    const { last } = this.#line;
    const refusal = this.#refusal(cost, Infinity);
    if (refusal) refusal(waiter as Waiter<unknown>, undefined);
    else if (last?.stage === 'queued' && last.waiter === waiter && sameCost(last.cost, cost)) {
      last.count++;
      this.#waiting++;
    } else {
      this.#join(new Entry(waiter as Waiter<unknown>, cost, 1, Infinity, Infinity, undefined));
      this.#wake();
    }
  }

  cancel(entry: Entry): void {
    if (entry.stage === 'gone') return;
    if (entry.stage !== 'booked') {
      this.#leave(entry);
      this.#wake();
      return;
    }
    const { cost, count } = entry;
    let next = entry.next;
    this.#leave(entry);
    // Those who stand next to it in line and ask for the same move up, and the last of their moments is free.
    while (next?.stage === 'booked' && sameCost(next.cost, cost)) next = next.next;
    let after = 0;
    for (; next?.stage === 'booked'; next = next.next) after += next.count;
    const freed = this.#reservations.takeBefore(after, count);
    for (const { grant, due, load, count } of freed)
      if (after === 0) this.#book(grant, count, due, load);
      else this.#refunds.add(grant, count);
    this.#wake();
  }

  abandon(waiter: Waiter<never>): void {
    for (let entry = this.#line.first; entry; ) {
      const { next } = entry;
      if (entry.waiter === (waiter as Waiter<unknown>)) this.cancel(entry);
      entry = next;
    }
  }

  giveBack(grant: Grant, settled?: () => void): void {
    this.#refunds.add(grant, 1, settled);
    this.#denied = undefined;
    this.#wake();
  }

  /** Refuses all who wait, gives back what is booked, and resolves when nothing is under way any more. */
  close(): Promise<void> {
    this.#closed = true;
    for (const entry of this.#entries()) this.#refuse(entry, new LimiterClosedError(this.#options.name));
    const { count } = this.#reservations;
    for (const { grant, count: part } of this.#reservations.takeBefore(0, count))
      this.#refunds.add(grant, part);
    this.#pump();
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#tellIdle();
    });
  }

  *#entries(): Generator<Entry> {
    for (let entry = this.#line.first; entry; ) {
      const { next } = entry;
      yield entry;
      entry = next;
    }
  }

  /** Why a request is refused at the door, if it is. */
  #refusal(cost: Cost, timeout: number): News | undefined {
    const { name, maxQueue } = this.#options;
    if (this.#closed) return (waiter, data) => waiter.refused(new LimiterClosedError(name), data);
    if (timeout > 0) {
      if (this.#waiting < maxQueue) return undefined;
      return (waiter, data) => waiter.refused(new QueueOverflowError(name, maxQueue), data);
    }
    if (this.stands) return (waiter, data) => waiter.late(undefined, data);
    const denied = this.#denied;
    const now = this.now();
    if (!denied || now >= denied.until || cost.some((n, i) => n < denied.cost[i])) return undefined;
    return (waiter, data) => waiter.late(denied.retryAfter - (now - denied.since), data);
  }

  #join(entry: Entry): void {
    this.#line.append(entry);
    this.#unbooked ??= entry;
    this.#waiting++;
  }

  #leave(entry: Entry): void {
    if (entry === this.#unbooked) this.#unbooked = entry.next;
    if (entry.timeout === 0 && entry.stage === 'queued') this.#hasty--;
    this.#line.remove(entry);
    this.#deadlines.remove(entry);
    this.#waiting -= entry.count;
  }

  #late(entry: Entry, retryAfter?: number): void {
    this.#leave(entry);
    this.#news.push({ entry, news: (waiter, data) => waiter.late(retryAfter, data) });
  }

  #refuse(entry: Entry, error: Error): void {
    this.#leave(entry);
    this.#news.push({ entry, news: (waiter, data) => waiter.refused(error, data) });
  }

  /** Looks after the line: now where the store answers at once, else when this turn has said all it asks for. */
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

  #pump(work?: () => void): void {
    if (this.#pumping) {
      work?.();
      this.#again = true;
      return;
    }
    this.#pumping = true;
    try {
      work?.();
      do {
        this.#again = false;
        this.#tellNews();
        this.#deliver();
        this.#expire();
        this.#refunds.flush(() => this.#pump());
        this.#send();
      } while (this.#again);
    } finally {
      this.#pumping = false;
    }
    this.#arm();
    this.#tellIdle();
  }

  #tellNews(): void {
    while (this.#news.length > 0) {
      const told = this.#news;
      this.#news = [];
      for (const { entry, news } of told)
        for (let i = 0; i < entry.count; i++) news(entry.waiter, entry.data);
    }
  }

  /** Grants what is due, in the order of the line. */
  #deliver(): void {
    if (!this.#reservations.first) return;
    const now = this.now();
    for (let first = this.#reservations.first; first && first.due <= now; first = this.#reservations.first) {
      const entry = this.#line.first!;
      const grant = this.#reservations.shift();
      this.#granted++;
      if (entry.count === 1) this.#leave(entry);
      else {
        entry.count--;
        this.#waiting--;
      }
      entry.waiter.granted(grant, entry.data);
    }
  }

  #expire(): void {
    if (this.#deadlines.next === Infinity) return;
    const now = this.now();
    while (this.#deadlines.next <= now) this.#late(this.#deadlines.first!);
    this.#again ||= this.#news.length > 0;
  }

  #send(): void {
    if (this.#call || !this.#unbooked || !this.#share.isLow(this.#reservations.held)) return;
    const { ledger } = this.#options;
    const now = this.now();
    if (now < this.#retryAt) return;
    const runs = gather(this.#line, this.#unbooked, this.#share, now);
    // A split puts the part that is sent in front.
    this.#unbooked = runs[0].entries[0];
    for (const run of runs)
      if (run.maxWait === 0) for (const { timeout } of run.entries) if (timeout === 0) this.#hasty--;
    this.#call = runs;
    this.#calls++;
    ledger.reserve(
      { runs, horizon: this.#share.horizon, held: this.#reservations.held, epoch: this.#epoch },
      (error, reply) => {
        const received = this.now();
        this.#pump(() => {
          this.#call = undefined;
          if (reply) {
            if (!ledger.sync) this.#share.measured(received - now);
            this.#apply(runs, reply, received);
          } else this.#fail(runs, error!);
        });
      },
    );
  }

  #fail(runs: SentRun[], error: Error): void {
    for (const { entries } of runs)
      for (const entry of entries) if (entry.stage === 'sent') this.#refuse(entry, error);
  }

  #apply(runs: SentRun[], reply: ReserveReply, received: number): void {
    this.#epoch = reply.epoch;
    this.#share.contenders = reply.contenders;
    this.#retryAt = reply.retryAfter === undefined ? 0 : received + reply.retryAfter;
    let index = 0;
    let answered = 0;
    for (const segment of reply.segments) {
      const run = runs[index];
      if (segment.delay >= 0) this.#bookSegment(run, segment, reply, received);
      else this.#settle(run, segment, received);
      answered += segment.count;
      if (answered < run.count) continue;
      index++;
      answered = 0;
    }
    for (const { entries } of runs)
      for (const entry of entries) if (entry.stage === 'sent') this.#requeue(entry);
    if (this.#hasty > 0 && this.stands) this.#refuseHasty();
  }

  #bookSegment(
    { cost }: SentRun,
    { delay, count }: Segment,
    { now, epoch }: ReserveReply,
    received: number,
  ): void {
    // What is granted at once has its moment rounded up.
    const moment = delay === 0 ? Math.ceil(now) : Math.round(now + delay);
    const grant = { cost, moment, epoch, source: this.#options.ledger.source };
    this.#book(grant, count, received + delay, this.#share.loadOf(cost));
  }

  /** Books moments for those who are next in line, as far as they ask for just that; gives back the rest. */
  #book(grant: Grant, count: number, due: number, load: number): void {
    let booked = 0;
    for (let entry = this.#unbooked; entry && booked < count; entry = this.#unbooked) {
      if (!sameCost(entry.cost, grant.cost)) break;
      if (due > entry.deadline && due > this.now()) {
        this.#late(entry, due - this.now());
        continue;
      }
      const part = count - booked;
      if (part < entry.count) entry = splitFront(this.#line, entry, part);
      else this.#unbooked = entry.next;
      if (entry.timeout === 0 && entry.stage === 'queued') this.#hasty--;
      entry.stage = 'booked';
      this.#deadlines.remove(entry);
      booked += entry.count;
    }
    if (booked < count) this.#refunds.add(grant, count - booked);
    if (booked > 0 && this.#reservations.add({ grant, count: booked, due, load })) this.#checkBooked();
  }

  /** After moments have changed places, those whose moment comes too late now are refused. */
  #checkBooked(): void {
    const late: Entry[] = [];
    const moments = this.#reservations.moments();
    for (const entry of this.#entries()) {
      if (entry.stage !== 'booked') break;
      let due = 0;
      for (let i = 0; i < entry.count; i++) due = moments.next().value!.due;
      if (due > entry.deadline && due > this.now()) late.push(entry);
    }
    for (const entry of late) {
      this.cancel(entry);
      this.#news.push({ entry, news: (waiter, data) => waiter.late(undefined, data) });
    }
  }

  /** What becomes of the requests of a run that were neither granted nor booked. */
  #settle({ cost, entries, maxWait }: SentRun, { delay, retryAfter }: Segment, received: number): void {
    for (const entry of entries) {
      if (entry.stage !== 'sent') continue;
      if (delay === outcome.refused) this.#late(entry, retryAfter);
      else if (delay === outcome.never) this.#refuse(entry, this.#tooMuch(cost));
      else this.#requeue(entry);
    }
    if (delay === outcome.refused && maxWait === 0 && !this.#options.ledger.sync) {
      const until = received + Math.min(retryAfter, this.#share.horizon);
      this.#denied = { cost, until, since: received, retryAfter };
    }
  }

  #tooMuch(cost: Cost): Error {
    return new PermitsExceedLimitError(this.#options.name, permitsOf(this.#options.named, cost));
  }

  #requeue(entry: Entry): void {
    entry.stage = 'queued';
    if (entry.timeout === 0) this.#hasty++;
  }

  /** Those who will not wait leave when others have to. */
  #refuseHasty(): void {
    for (const entry of this.#entries())
      if (entry.timeout === 0 && entry.stage === 'queued') this.#late(entry);
  }

  /** Sets the timer for whatever comes next. */
  #arm(): void {
    const due = this.#reservations.first?.due ?? Infinity;
    const retry = this.#unbooked && !this.#call && this.#retryAt > 0 ? this.#retryAt : Infinity;
    const at = Math.min(due, retry, this.#deadlines.next);
    if (at === this.#timerAt) return;
    this.#timer?.();
    this.#timer = undefined;
    this.#timerAt = at;
    if (at === Infinity) return;
    this.#timer = this.#options.clock.after(Math.max(0, at - this.now()), () => {
      this.#timer = undefined;
      this.#timerAt = Infinity;
      this.#pump();
    });
  }

  #tellIdle(): void {
    if (this.#call || !this.#refunds.idle || this.#scheduled) return;
    for (const tell of this.#idle.splice(0)) tell();
  }
}
