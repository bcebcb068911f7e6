import { inspect } from 'node:util';
import { type RunHelpers, TestScheduler } from 'rxjs/testing';
import * as assert from 'uvu/assert';
import { leakyBucket, RateLimiter, type RateLimiterOptions } from '../../src/index.ts';

/** A leaky bucket of 1 permit per 3 frames. */
export const onePerThree = leakyBucket({ permits: 1, interval: 3 });

/** The context of a test in virtual time: RxJS's helpers, and limiters on the same clock. */
export interface Marbles extends RunHelpers {
  scheduler: TestScheduler;
  /** A limiter named `api`. */
  limiter(limit: RateLimiterOptions['limit'], options?: Partial<RateLimiterOptions>): RateLimiter;
  /** Runs at a frame, after the earlier actions of that frame. */
  at(frame: number, work: () => void): void;
}

/**
 * A test in virtual time, of a millisecond a frame. It fails if a request still waits at any of its limiters in the
 * end.
 */
export function marbles(work: (helpers: Marbles) => void | Promise<void>): () => Promise<void> {
  return async () => {
    const scheduler = new TestScheduler((actual, expected) =>
      assert.equal(actual.map(inOneLine), expected.map(inOneLine)),
    );
    const limiters: RateLimiter[] = [];
    await scheduler.run((helpers) =>
      work({
        ...helpers,
        scheduler,
        limiter(limit, options) {
          const limiter = new RateLimiter({ name: 'api', limit, scheduler, ...options });
          limiters.push(limiter);
          return limiter;
        },
        at: (frame, work) => scheduler.schedule(work, frame),
      }),
    );
    for (const limiter of limiters) assertIdle(limiter);
  };
}

/** Asserts that no request waits at the limiter, and that nothing is reserved. */
export function assertIdle(limiter: RateLimiter): void {
  const { queued, reserved } = limiter.stats();
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
}

/** A notification or a subscription in one line, for short failure messages. */
function inOneLine(message: object): string {
  if (!('notification' in message)) return inspect(message);
  const { frame, notification } = message as { frame: number; notification: { error?: unknown } };
  const { error } = notification;
  if (!(error instanceof Error)) return `${frame} ${inspect(notification, { breakLength: Infinity })}`;
  return `${frame} ${error} ${inspect({ ...error }, { breakLength: Infinity })}`;
}
