import { LimiterClosedError } from '../errors.ts';
import type { Line } from '../port/line.ts';
import type { ControlledLedger } from '../stores/store.ts';
import type { KeyedLedger, KeyedOwner } from './keyedLedger.ts';
import { openLedger, type SharedParts } from './limiterParts.ts';

/** The part of a limiter that decides whether it can be evicted. */
interface Evictable {
  readonly line: Pick<Line<never>, 'idle'>;
}

/** Up to so many limiters, none is dropped, so that keys in frequent use are not created again. */
export const room = 32_768;
/** Limiters that the clock hand visits when one is added beyond `room`: this keeps the idle ones below a third of the busy. */
const visits = 8;
/** And when one is looked up, since the keys of a busy time may never be used again. */
const visitsOfLookup = 1;

/**
 * The limiters of a group by their keys, with eviction by the clock algorithm: beyond `room`, each limiter that is added or
 * looked up moves the hand on, which drops limiters that are idle and were not used since its last visit. This needs no timer
 * and no full sweep.
 *
 * A dropped limiter that is used again is added again. If its key has another limiter by then, the group keeps both.
 */
export class KeyedLimiters<L extends Evictable> implements KeyedOwner<L> {
  readonly shared: SharedParts;
  readonly #byKey = new Map<string, KeyedLedger<L>>();
  /** Dropped limiters that are used again, and whose keys have others by now. */
  readonly #others = new Set<KeyedLedger<L>>();
  #hand = this.#all();
  /** Whether all requests are refused. */
  closed = false;

  constructor(shared: SharedParts) {
    this.shared = shared;
  }

  open({ named, events, key }: KeyedLedger<L>): ControlledLedger {
    return openLedger(this.shared, named, events, key);
  }

  get size(): number {
    return this.#byKey.size + this.#others.size;
  }

  get limiters(): L[] {
    return Array.from(this.#all(), ({ limiter }) => limiter!);
  }

  *#all(): Generator<KeyedLedger<L>, undefined> {
    yield* this.#byKey.values();
    yield* this.#others;
    return undefined;
  }

  /** Returns the limiter of a key, which counts as used. */
  find(key: string): L | undefined {
    const ledger = this.#byKey.get(key);
    if (!ledger) return undefined;
    ledger.used = true;
    this.#moveHand(visitsOfLookup);
    return ledger.limiter;
  }

  use(ledger: KeyedLedger<L>): Error | undefined {
    if (this.closed) return new LimiterClosedError(this.shared.config.name);
    // A dropped limiter is not marked as used.
    if (!ledger.used) this.add(ledger);
    return undefined;
  }

  /** Adds a limiter that is new, or was dropped and is used again. */
  add(ledger: KeyedLedger<L>): void {
    ledger.used = true;
    const known = this.#byKey.get(ledger.key);
    if (known === ledger) return;
    if (known) this.#others.add(ledger);
    else {
      this.#others.delete(ledger);
      this.#byKey.set(ledger.key, ledger);
    }
    this.#moveHand(visits);
  }

  /** Drops the limiter of a key. */
  forget(key: string): void {
    const ledger = this.#byKey.get(key);
    if (ledger) this.#drop(ledger);
  }

  clear(): void {
    this.#byKey.clear();
    this.#others.clear();
  }

  #moveHand(most: number): void {
    for (let i = 0; i < most && this.size > room; i++) {
      const { done, value: ledger } = this.#hand.next();
      if (done) this.#hand = this.#all();
      else if (ledger.used) ledger.used = false;
      else if (ledger.limiter!.line.idle) this.#drop(ledger);
    }
  }

  #drop(ledger: KeyedLedger<L>): void {
    ledger.used = false;
    if (!this.#others.delete(ledger)) this.#byKey.delete(ledger.key);
  }
}
