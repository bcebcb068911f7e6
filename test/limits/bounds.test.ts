import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { algebraOf } from '../../src/limits/states.ts';
import { scaledLimit } from '../../src/stores/fallback/scaledLimit.ts';

/*
 * How far a limit may be exceeded, as docs/guarantees.md states it. A fleet takes each permit at the first possible moment
 * while data are lost, or the limit or the clock changes. No formula is exceeded, and each is nearly reached.
 */

type Algebra = ReturnType<typeof algebraOf>;

/** A limit whose permits are all taken in each millisecond, by a clock that may step. */
class Greedy {
  #algebra!: Algebra;
  #state: unknown;
  #ahead = 0;
  /** The permits granted at each true millisecond. */
  readonly granted: number[] = [];
  #limit: Limit;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.lose();
  }

  /** The data are lost. */
  lose(): void {
    this.#algebra = algebraOf(this.#limit);
    this.#state = this.#algebra.create(this.#limit as never);
  }

  /** Another limit of the same kind comes into force. */
  adopt(limit: Limit): void {
    this.#limit = limit;
    this.#algebra.adopt(this.#state as never, limit as never, 0);
  }

  /** The clock steps forward. */
  step(ms: number): void {
    this.#ahead += ms;
  }

  /** Takes all permits for `ms` milliseconds, and calls `before` ahead of each of them. */
  run(ms: number, before: (at: number) => void = () => {}): this {
    for (let i = 0; i < ms; i++) {
      before(i);
      const now = 1_000_000 + this.granted.length + this.#ahead;
      const state = this.#state as never;
      this.#algebra.roll(state, now, 0);
      const permits = this.#algebra.available(state, now, now);
      if (permits > 0) this.#algebra.commit(state, now, now, permits);
      this.granted.push(permits);
    }
    return this;
  }

  /** The most permits in any window of `length` milliseconds. */
  most(length: number): number {
    let sum = 0;
    return this.granted.reduce((most, permits, i) => {
      sum += permits - (this.granted[i - length] ?? 0);
      return Math.max(most, sum);
    }, 0);
  }
}

const window = (permits: number, interval: number) => slidingWindow({ permits, interval, resolution: 1 });

for (const losses of [0, 1, 3])
  test(`${losses} losses of data in a window allow (k + 1) · P`, () => {
    const most = new Greedy(window(10, 100)).run(50);
    most.run(100, (at) => at < losses && most.lose()).run(200);
    assert.is(most.most(100), (losses + 1) * 10);
    const bucket = new Greedy(tokenBucket({ permits: 10, interval: 100, burst: 5 })).run(100);
    bucket.run(100, (at) => at < losses && bucket.lose()).run(200);
    const bound = 5 + (10 * 101) / 100 + losses * 5;
    assert.ok(
      bucket.most(100) <= bound && bucket.most(100) >= losses * 5 + 9,
      `${bucket.most(100)} of ${bound}`,
    );
  });

for (const steps of [1, 2])
  test(`${steps} steps of the clock forward in a window allow (k + 1) · P`, () => {
    const greedy = new Greedy(window(10, 100)).run(50);
    greedy.run(50, (at) => at < steps && greedy.step(100)).run(200);
    assert.is(greedy.most(100), (steps + 1) * 10);
  });

for (const [from, to, interval] of [
  [10, 10, 250],
  [10, 4, 300],
  [4, 10, 1_000],
])
  test(`a longer interval allows max(P, P′) + (⌈I′ / I⌉ − 1) · P: ${from} in 100 ms, then ${to} in ${interval} ms`, () => {
    const greedy = new Greedy(window(from, 100)).run(2 * interval);
    greedy.adopt(window(to, interval));
    const most = greedy.run(2 * interval).most(interval);
    const bound = Math.max(from, to) + (Math.ceil(interval / 100) - 1) * from;
    assert.ok(most <= bound, `${most} of ${bound}`);
    assert.ok(most > Math.max(from, to), `${most} permits`);
  });

for (const [one, other] of [
  [10, 4],
  [10, 11],
])
  test(`two limits of one interval in turn allow max(P, P′): ${one} and ${other}`, () => {
    const greedy = new Greedy(window(one, 100));
    greedy.run(400, (at) => greedy.adopt(window(at % 7 < 3 ? other : one, 100)));
    assert.is(greedy.most(100), Math.max(one, other));
  });

for (const [from, to, interval] of [
  [1, 20, 400],
  [10, 20, 200],
  [5, 10, 250],
])
  test(`two intervals in turn allow ⌈I′ / I⌉ · max(P, P′): ${from} in 100 ms and ${to} in ${interval} ms`, () => {
    const [short, long] = [window(from, 100), window(to, interval)];
    const greedy = new Greedy(short);
    greedy.run(4 * interval, (at) => greedy.adopt(at % 2 === 0 ? short : long));
    const most = greedy.most(interval);
    const bound = Math.ceil(interval / 100) * Math.max(from, to);
    assert.ok(most <= bound, `${most} of ${bound}`);
    assert.ok(most > Math.max(from, to), `${most} permits`);
  });

for (const [permits, ratio, processes] of [
  [40, 0.5, 3],
  [40, 1 / 4, 4],
  [2, 0.1, 5],
])
  test(`a fallback allows P + N · max(1, r · P): ${processes} processes, ratio ${ratio}, ${permits} permits`, () => {
    const limit = window(permits, 100);
    // Each process has used its part, and Redis grants all of its own when it comes back.
    const locals = Array.from({ length: processes }, () =>
      new Greedy(scaledLimit(limit, ratio)).run(300).most(100),
    );
    const most = new Greedy(limit).run(300).most(100) + locals.reduce((sum, one) => sum + one);
    const bound = permits + processes * Math.max(1, ratio * permits);
    assert.ok(most <= bound && most >= bound - processes, `${most} of ${bound}`);
  });

test.run();
