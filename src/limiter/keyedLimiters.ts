import type { Clock } from '../clock.ts';
import type { ControlledLedger } from '../stores/store.ts';
import { WorkQueue } from '../workQueue.ts';
import type { KeyedLine, KeyedOwner } from './keyedLine.ts';
import { openLedger, type SharedParts } from './limiterParts.ts';

/** Up to so many limiters, none is dropped, so that keys in frequent use are not created again. */
export const room = 32_768;
/** And up to so many, none that holds a pause, which a fallback cannot ask Redis for. Beyond that, memory counts for more. */
export const roomOfPaused = 2 * room;
/** Limiters that the clock hand visits when one is added beyond `room`: this keeps the idle ones below a third of the busy. */
const visits = 8;
/** And when one is looked up, since the keys of a busy time may never be used again. */
const visitsOfLookup = 1;

/**
 * The limiters of a group by their keys, with eviction by the clock algorithm: beyond `room`, each limiter that is added or
 * looked up moves the hand on, which drops limiters that are idle, not paused, and were not used since its last visit. This
 * needs no timer and no full sweep.
 *
 * A dropped limiter that is used again is added again. If its key has another limiter by then, the group keeps both.
 */
export class KeyedLimiters<L> implements KeyedOwner<L> {
  readonly #shared: SharedParts;
  readonly #byKey = new Map<string, KeyedLine<unknown, L>>();
  /** Dropped limiters that are used again, and whose keys have others by now. */
  readonly #others = new Set<KeyedLine<unknown, L>>();
  #hand = this.#all();
  readonly works = new WorkQueue();
  /** Whether all requests are refused. */
  closed = false;

  constructor(shared: SharedParts) {
    this.#shared = shared;
  }

  get name(): string {
    return this.#shared.config.name;
  }

  get clock(): Clock {
    return this.#shared.clock;
  }

  get maxQueue(): number {
    return this.#shared.maxQueue;
  }

  open(line: KeyedLine<unknown, L>): ControlledLedger {
    const { hasFallback } = this.#shared;
    return openLedger(this.#shared, line.named, hasFallback ? line.events : undefined, line.key);
  }

  get size(): number {
    return this.#byKey.size + this.#others.size;
  }

  *#all(): Generator<KeyedLine<unknown, L>, undefined> {
    yield* this.#byKey.values();
    yield* this.#others;
    return undefined;
  }

  /** Returns the limiter of a key, which counts as used. */
  find(key: string): L | undefined {
    const line = this.#byKey.get(key);
    if (!line) return undefined;
    line.used = true;
    this.#moveHand(visitsOfLookup);
    return line.limiter;
  }

  use(line: KeyedLine<unknown, L>): void {
    if (!this.closed) this.add(line);
  }

  /** Adds a limiter that is new, or was dropped and is used again. */
  add(line: KeyedLine<unknown, L>): void {
    line.used = true;
    const known = this.#byKey.get(line.key);
    if (known === line) return;
    if (known) this.#others.add(line);
    else {
      this.#others.delete(line);
      this.#byKey.set(line.key, line);
    }
    this.#moveHand(visits);
  }

  /** Drops the limiter of a key. */
  forget(key: string): void {
    const line = this.#byKey.get(key);
    if (line) this.#drop(line);
  }

  /** Refuses all requests, and closes the limiters over several turns of the event loop. Nothing is granted meanwhile. */
  async close(): Promise<void> {
    this.closed = true;
    const closing: Promise<void>[] = [];
    const slow: KeyedLine<unknown, L>[] = [];
    for (const line of this.#all())
      if (line.stop()) slow.push(line);
      else closing.push(line.close());
    // Not behind the passes of the limiters, which would first send their calls.
    const works = new WorkQueue();
    for (const line of slow) works.run(() => closing.push(line.close()));
    await new Promise<void>((resolve) => works.run(resolve));
    await Promise.all(closing);
    this.#byKey.clear();
    this.#others.clear();
    // The iterator of a map that it has begun holds what the map held.
    this.#hand = this.#all();
  }

  #moveHand(most: number): void {
    for (let i = 0; i < most && this.size > room; i++) {
      const { done, value: line } = this.#hand.next();
      if (done) this.#hand = this.#all();
      else if (line.used) line.used = false;
      else if (line.idle && (this.size > roomOfPaused || !line.opened?.isPaused)) this.#drop(line);
    }
  }

  #drop(line: KeyedLine<unknown, L>): void {
    line.used = false;
    // A line of the same key may be created from now on.
    this.#shared.store.index?.(line.opened);
    if (!this.#others.delete(line)) this.#byKey.delete(line.key);
  }
}
