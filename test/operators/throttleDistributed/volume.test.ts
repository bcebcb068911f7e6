import { range, Subject } from 'rxjs';
import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, slidingWindow, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { assertIdle, marbles, onePerThree } from '../../support/marbles.ts';

const test = suite('throttleDistributed, many values');
const million = 1_000_000;
const wide = slidingWindow({ permits: 2 * million, interval: 1_000 });
const busy = tokenBucket({ permits: 10, interval: 1, burst: 100 });

/** A subscriber that counts values which must come as 0, 1, 2, … */
function counter() {
  const seen = { values: 0, inOrder: true, completed: false };
  const next = (value: number) => {
    seen.inOrder &&= value === seen.values++;
  };
  const complete = () => {
    seen.completed = true;
  };
  return { seen, next, complete };
}

for (const [what, values, options] of [
  ['a million synchronous values, counted by the line,', million, {}],
  ['a hundred thousand synchronous values, carried by the line,', 100_000, { timeout: 1_000 }],
] as const) {
  test(
    `${what} pass under a limit that is not reached`,
    marbles(({ limiter }) => {
      const { seen, ...observer } = counter();
      range(0, values)
        .pipe(throttleDistributed(limiter(wide), options))
        .subscribe(observer);
      assert.equal(seen, { values, inOrder: true, completed: true });
    }),
  );
}

for (const [what, limit] of Object.entries({ 'does not bind': wide, binds: busy })) {
  test(
    `a hundred thousand values, each pushed by the consumer of the one before it, where the limit ${what}`,
    marbles(({ limiter, flush }) => {
      const source = new Subject<number>();
      const { seen, next } = counter();
      source.pipe(throttleDistributed(limiter(limit))).subscribe((value) => {
        next(value);
        if (seen.values < 100_000) source.next(seen.values);
      });
      source.next(0);
      flush();
      assert.equal(seen, { values: 100_000, inOrder: true, completed: false });
    }),
  );
}

for (const [what, options] of Object.entries({ counted: {}, carried: { project: (n: number) => n } })) {
  test(`a hundred thousand synchronous values, ${what} by the line, come at the rate of a limit that binds`, () => {
    const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
    try {
      const limiter = new RateLimiter({ name: 'api', limit: busy });
      const { seen, ...observer } = counter();
      range(0, 100_000).pipe(throttleDistributed(limiter, options)).subscribe(observer);
      assert.is(seen.values, 100);
      clock.tick(5_000);
      assert.is(seen.values, 50_100);
      clock.tick(4_989);
      assert.equal(seen, { values: 99_990, inOrder: true, completed: false });
      clock.tick(1);
      assert.equal(seen, { values: 100_000, inOrder: true, completed: true });
      assertIdle(limiter);
      assert.is(clock.countTimers(), 0);
    } finally {
      clock.restore();
    }
  });

  test(
    `a hundred thousand waiting values, ${what} by the line, are cancelled together`,
    marbles(({ limiter }) => {
      const limited = limiter(onePerThree);
      const { seen, ...observer } = counter();
      const values = range(0, 100_000).pipe(throttleDistributed(limited, options));
      values.subscribe(observer).unsubscribe();
      assert.is(seen.values, 1);
      assertIdle(limited);
    }),
  );
}

test.run();
