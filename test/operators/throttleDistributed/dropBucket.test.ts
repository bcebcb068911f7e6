import { Subject } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter, throttleDistributed, tokenBucket } from '../../../src/index.ts';
import { timed } from '../../support/fakeTime.ts';

/** Milliseconds between two permits of the bucket. */
const pace = 100;
const count = 30;

for (const burst of [1, 2, 5])
  timed(`'drop' on a full bucket of ${burst} loses no value that comes at its rate`, (clock) => {
    // At any part of a millisecond: a permit is granted at a whole one.
    for (const part of [0, 0.001, 0.25, 0.5, 0.999]) {
      clock.tick(Math.ceil(performance.now()) + part - performance.now());
      const limiter = new RateLimiter({
        name: 'api',
        limit: tokenBucket({ permits: 1000 / pace, interval: 1000, burst }),
      });
      const source = new Subject<number>();
      const emitted: number[] = [];
      source
        .pipe(throttleDistributed(limiter, { strategy: 'drop' }))
        .subscribe((value) => emitted.push(value));
      const sent = Array.from({ length: burst + count }, (_, i) => i);
      for (const value of sent) {
        if (value >= burst) clock.tick(pace);
        source.next(value);
      }
      assert.equal(emitted, sent, `${part} ms`);
      // It was full at the first one, and is empty after each: another value at once is dropped.
      source.next(-1);
      assert.equal(emitted, sent);
      // Full again, it lets as many pass at once.
      clock.tick(pace * burst);
      for (const value of sent.slice(0, burst + 1)) source.next(value);
      assert.equal(emitted.slice(sent.length), sent.slice(0, burst), `${part} ms`);
      source.complete();
    }
  });

test.run();
