import type { Permits } from '../limits/cost.ts';
import { checkPermits } from '../port/checkPermits.ts';
import type { Limiter, LimiterGroup, Line, Waiter } from '../port/line.ts';
import { lineOf } from '../port/lineOf.ts';
import * as check from '../validate.ts';
import type { ThrottlePlan } from './throttleOptions.ts';

/** What the operators need of a group: one limiter for each key, and a name for messages. */
export interface NamedGroup<P = Permits> extends LimiterGroup<P> {
  readonly name: string;
}

/** The lines in which the values of one subscription wait. */
export interface Lines<T, P> {
  /** Whose they are, for messages. */
  readonly name: string;
  /** The line of a value; throws where there is none. */
  lineOf(value: T): Line<P>;
  /** One value more waits in a line, which does not only count it. */
  joined(line: Line<P>): void;
  /** One of those has gone. */
  left(line: Line<P>): void;
  /** Leaves every line with all that the subscription asked for. */
  abandon(waiter: Waiter<never>): void;
}

/** The line of one limiter, for all values. */
class OneLine<P> implements Lines<unknown, P> {
  readonly #line: Line<P>;

  constructor(line: Line<P>) {
    this.#line = line;
  }

  get name(): string {
    return this.#line.name;
  }

  lineOf(): Line<P> {
    return this.#line;
  }

  joined(): void {}

  left(): void {}

  abandon(waiter: Waiter<never>): void {
    this.#line.cancelAll(waiter);
  }
}

/** A line for each key. Nothing is remembered of those in which no value waits. */
class LinesByKey<T, P> implements Lines<T, P> {
  readonly #group: NamedGroup<P>;
  readonly #key: (value: T) => string;
  /** How many values wait in each line. */
  readonly #waiting = new Map<Line<P>, number>();

  constructor(group: NamedGroup<P>, key: (value: T) => string) {
    this.#group = group;
    this.#key = key;
  }

  get name(): string {
    return this.#group.name;
  }

  lineOf(value: T): Line<P> {
    const key = this.#key;
    return this.#group.get(key(value)).line;
  }

  joined(line: Line<P>): void {
    this.#waiting.set(line, (this.#waiting.get(line) ?? 0) + 1);
  }

  left(line: Line<P>): void {
    const waiting = this.#waiting.get(line)! - 1;
    if (waiting > 0) this.#waiting.set(line, waiting);
    else this.#waiting.delete(line);
  }

  abandon(waiter: Waiter<never>): void {
    for (const line of [...this.#waiting.keys()]) line.cancelAll(waiter);
    this.#waiting.clear();
  }
}

/** What makes the lines of a subscription; refuses what is neither a limiter nor a group with a key. */
export function linesOf<T, P>(
  limiter: Limiter<P> | NamedGroup<P>,
  { key, permits }: Pick<ThrottlePlan<T, P, unknown>, 'key' | 'permits'>,
): () => Lines<T, P> {
  if (!isGroup(limiter)) {
    const line = lineOf(limiter);
    if (key !== undefined) throw new TypeError('key: expected no key without a group');
    if (typeof permits !== 'function') checkPermits(line, permits);
    return () => new OneLine(line);
  }
  check.functionValue('key', key);
  if (typeof permits !== 'function') checkPermits(undefined, permits);
  return () => new LinesByKey(limiter, key!);
}

function isGroup<P>(limiter: Limiter<P> | NamedGroup<P>): limiter is NamedGroup<P> {
  return typeof (limiter as NamedGroup<P> | null | undefined)?.get === 'function' && !('line' in limiter);
}
