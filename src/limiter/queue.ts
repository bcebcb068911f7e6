import type { Cost } from '../stores/store.ts';
import { Chain } from './chain.ts';
import { Deadlines } from './deadlines.ts';
import { Entry, type Peers, sameCost } from './entry.ts';
import type { Waiter } from './line.ts';
import { News } from './news.ts';

/** All requests that wait, in the order in which they came: those at the head are booked, the others not yet. */
export class Queue {
  readonly #list = new Chain<Entry>();
  readonly deadlines = new Deadlines();
  readonly news = new News();
  /** The newest entry of each waiter that leaves with all it has. */
  readonly #newest = new Map<Waiter<unknown>, Entry>();
  /** Of those waiters, the ones that hear when they have to wait, and the ones that give way. */
  readonly bounded = new Set<Waiter<unknown>>();
  readonly #givingWay = new Set<Waiter<unknown>>();
  /** The first entry that is not booked. */
  unbooked: Entry | undefined;
  /** Requests. */
  waiting = 0;
  /** Entries that will not wait, and are not sent. */
  readonly hasty = new Set<Entry>();
  /** Entries that are not refused at their deadline, as no answer has come that could have granted them. */
  readonly unanswered = new Set<Entry>();
  /** The first entry that joined, or was un-booked, when nothing was known of its wait: it and those behind are not judged. */
  unjudged: Entry | undefined;
  /** Permits that those ask of each limit who are not booked, and are sure to be served. */
  readonly asked: number[];
  /** Permits that all ask of each limit who are not booked. */
  readonly wanted: number[];
  /** The last of those who are not sure. */
  peers: Peers | undefined;

  constructor(limits: number) {
    this.asked = new Array(limits).fill(0);
    this.wanted = new Array(limits).fill(0);
  }

  get first(): Entry | undefined {
    return this.#list.first;
  }

  get last(): Entry | undefined {
    return this.#list.last;
  }

  /** An entry of one request that was asked ahead, the newest of its waiter; of no use to a waiter that has one itself. */
  askedAhead(instead?: Waiter<unknown>): Entry | undefined {
    if (instead && this.#givingWay.has(instead)) return undefined;
    for (const waiter of this.#givingWay) {
      const newest = this.#newest.get(waiter)!;
      if (newest.count > 1) this.splitFront(newest, newest.count - 1);
      if (newest.older) return newest;
    }
    return undefined;
  }

  newestOf(waiter: Waiter<unknown>): Entry | undefined {
    return this.#newest.get(waiter);
  }

  join(entry: Entry): void {
    this.#list.append(entry);
    if (entry.waiter.leavesTogether) this.#chain(entry, this.#newest.get(entry.waiter), undefined);
    this.unbooked ??= entry;
    this.waiting += entry.count;
    this.#ask(entry, entry.count);
    if (entry.timeout === 0) this.hasty.add(entry);
  }

  /** Adds one request to the last entry, if that is of the same waiter and asks for the same. */
  extend(waiter: Waiter<unknown>, cost: Cost): boolean {
    const { last } = this.#list;
    if (last?.stage !== 'queued' || last.waiter !== waiter || !sameCost(last.cost, cost)) return false;
    last.count++;
    this.waiting++;
    this.#ask(last, 1);
    return true;
  }

  leave(entry: Entry): void {
    if (entry.stage !== 'booked') this.#ask(entry, -entry.count);
    if (entry.timeout === 0) this.hasty.delete(entry);
    if (entry === this.unbooked) this.unbooked = entry.next;
    if (entry === this.unjudged) this.unjudged = entry.next;
    this.deadlines.remove(entry);
    this.unanswered.delete(entry);
    this.#list.remove(entry);
    entry.stage = 'gone';
    if (entry.waiter.leavesTogether) this.#unchain(entry);
    this.waiting -= entry.count;
  }

  /** One request of the first entry has been granted. */
  leaveOne(entry: Entry): void {
    if (entry.count === 1) {
      this.leave(entry);
      return;
    }
    entry.count--;
    this.waiting--;
  }

  /** An answer has come for those who joined before so many calls had been sent: from now on only their deadline counts. */
  answered(calls: number): void {
    for (const entry of this.unanswered) {
      // Later ones joined no earlier.
      if (entry.calls >= calls) return;
      this.unanswered.delete(entry);
      this.deadlines.move(entry, entry.deadline);
    }
  }

  late(entry: Entry, retryAfter?: number): void {
    this.leave(entry);
    this.news.late(entry, retryAfter);
  }

  refuse(entry: Entry, error: Error): void {
    this.leave(entry);
    this.news.refused(entry, error);
  }

  send(entry: Entry): void {
    if (entry.timeout === 0) this.hasty.delete(entry);
    entry.stage = 'sent';
  }

  requeue(entry: Entry): void {
    if (entry.timeout === 0) this.hasty.add(entry);
    entry.stage = 'queued';
    entry.block = undefined;
  }

  /** Books at most `count` requests of the first entry that is not booked, and says which. */
  book(count: number): Entry {
    const first = this.unbooked!;
    const entry = count < first.count ? this.splitFront(first, count) : first;
    if (entry.timeout === 0) this.hasty.delete(entry);
    entry.stage = 'booked';
    this.unbooked = entry.next;
    if (entry === this.unjudged) this.unjudged = entry.next;
    this.deadlines.remove(entry);
    this.unanswered.delete(entry);
    entry.expires = entry.deadline;
    this.#ask(entry, -entry.count);
    return entry;
  }

  /** Those who are booked may run out of time, too: their moments are held up. */
  watchBooked(): void {
    for (const entry of this.entries()) {
      if (entry.stage !== 'booked') return;
      if (entry.timeout > 0 && entry.deadline < Infinity && entry.place < 0) this.deadlines.add(entry);
    }
  }

  /** The last `count` booked requests are booked no more: they stay where they are in the line. */
  unbook(count: number): void {
    let entry = this.unbooked ? this.unbooked.previous : this.#list.last;
    for (let left = count; left > 0 && entry; entry = entry.previous) {
      if (left < entry.count) this.splitFront(entry, entry.count - left);
      left -= entry.count;
      this.requeue(entry);
      this.unbooked = entry;
      entry.sure = entry.timeout === Infinity;
      entry.peers = undefined;
      if (entry.timeout > 0 && entry.deadline < Infinity && entry.place < 0) this.deadlines.add(entry);
      this.#ask(entry, entry.count);
    }
    this.unjudged = this.unbooked;
  }

  /** Takes an entry that is not booked to be sure, or one of some peers. */
  judge(entry: Entry, sure: boolean, peers: Peers | undefined): void {
    this.#ask(entry, -entry.count);
    entry.sure = sure;
    entry.peers = peers;
    this.#ask(entry, entry.count);
  }

  /** Puts the first `count` requests of an entry into one of their own, in front of the rest. */
  splitFront(entry: Entry, count: number): Entry {
    const { waiter, cost, timeout, deadline, data } = entry;
    const front = new Entry(waiter, cost, count, timeout, deadline, data);
    front.stage = entry.stage;
    front.block = entry.block;
    front.sure = entry.sure;
    front.peers = entry.peers;
    entry.count -= count;
    this.#list.insertBefore(front, entry);
    if (waiter.leavesTogether) this.#chain(front, entry.older, entry);
    if (entry === this.unbooked) this.unbooked = front;
    if (entry === this.unjudged) this.unjudged = front;
    if (this.hasty.has(entry)) this.hasty.add(front);
    return front;
  }

  /** The entries from one on, the first by default; each may leave while it is looked at. */
  *entries(from = this.#list.first): Generator<Entry> {
    for (let entry = from; entry; ) {
      const { next } = entry;
      yield entry;
      entry = next;
    }
  }

  /** Puts an entry between two of its waiter's, so that a waiter can leave without a look at the whole line. */
  #chain(entry: Entry, older: Entry | undefined, newer: Entry | undefined): void {
    entry.older = older;
    entry.newer = newer;
    if (older) older.newer = entry;
    if (newer) newer.older = entry;
    else {
      this.#newest.set(entry.waiter, entry);
      if (entry.waiter.waits) this.bounded.add(entry.waiter);
      if (entry.waiter.givesWay) this.#givingWay.add(entry.waiter);
    }
  }

  #unchain(entry: Entry): void {
    const { waiter, older, newer } = entry;
    if (older) older.newer = newer;
    if (newer) newer.older = older;
    else if (older) this.#newest.set(waiter, older);
    else {
      this.#newest.delete(waiter);
      this.bounded.delete(waiter);
      this.#givingWay.delete(waiter);
    }
    entry.older = undefined;
    entry.newer = undefined;
  }

  #ask({ cost, sure, peers }: Entry, count: number): void {
    if (peers) peers.count += count;
    for (let i = 0; i < cost.length; i++) {
      this.wanted[i] += cost[i] * count;
      if (sure) this.asked[i] += cost[i] * count;
    }
  }
}
