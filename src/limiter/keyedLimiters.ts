import { LimiterClosedError } from '../errors.ts';
import type { Line } from '../port/line.ts';

/** One limiter of a group. */
export class KeyedLimiter<L extends Kept> {
  limiter: L | undefined;
  /** Whether it was used since the hand came by. */
  used = false;

  constructor(
    readonly key: string,
    readonly members: KeyedLimiters<L>,
  ) {}

  /** Called before anything is asked of it; what it answers refuses that. */
  use(): Error | undefined {
    if (this.members.closed) return new LimiterClosedError(this.members.name);
    // One that was dropped is not used.
    if (!this.used) this.members.keep(this);
    return undefined;
  }
}

/** A limiter, as far as a group looks after it. */
interface Kept {
  readonly line: Pick<Line<never>, 'idle'>;
}

/** Limiters that are kept though idle: at most some 20 MB, so that busy keys do not make theirs anew. */
export const room = 8_192;
/** Members that the hand looks at when one joins: so many that of the idle ones no more stay than a third of the busy ones. */
const looks = 8;

/**
 * The limiters that a group looks after, found by their keys. Beyond some room, each that joins moves a hand on, as of a
 * clock: it drops those that are idle and were not used since it last came by. So no timer is needed, and no long sweep.
 *
 * A dropped one that is used again comes back. If its key has another one by then, both are looked after.
 */
export class KeyedLimiters<L extends Kept> {
  /** The group's name. */
  readonly name: string;
  /** Whether everything is refused from now on. */
  closed = false;
  readonly #all = new Set<KeyedLimiter<L>>();
  readonly #byKey = new Map<string, KeyedLimiter<L>>();
  #hand = this.#all.values();

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.#all.size;
  }

  get limiters(): L[] {
    return Array.from(this.#all, ({ limiter }) => limiter!);
  }

  /** The limiter of a key, which is used herewith. */
  find(key: string): L | undefined {
    const member = this.#byKey.get(key);
    if (member) member.used = true;
    return member?.limiter;
  }

  /** Looks after a member: one that is new, or was dropped and is used again. */
  keep(member: KeyedLimiter<L>): void {
    member.used = true;
    if (this.#all.has(member)) return;
    this.#all.add(member);
    if (!this.#byKey.has(member.key)) this.#byKey.set(member.key, member);
    this.#sweep();
  }

  /** Another limiter may take the place of the key's. */
  forget(key: string): void {
    const member = this.#byKey.get(key);
    if (member) this.#drop(member);
  }

  clear(): void {
    this.#all.clear();
    this.#byKey.clear();
  }

  #sweep(): void {
    for (let i = 0; i < looks && this.#all.size > room; i++) {
      const { done, value: member } = this.#hand.next();
      if (done) this.#hand = this.#all.values();
      else if (member.used) member.used = false;
      else if (member.limiter!.line.idle) this.#drop(member);
    }
  }

  #drop(member: KeyedLimiter<L>): void {
    member.used = false;
    this.#all.delete(member);
    if (this.#byKey.get(member.key) === member) this.#byKey.delete(member.key);
  }
}
