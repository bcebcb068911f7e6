/** Cancels a timer; without effect once it has fired. */
export type CancelTimer = () => void;

/** Time as the limiter sees it: a monotonic clock, and one-shot timers on it. */
export interface Clock {
  /** Milliseconds, perhaps fractional, that never go back. */
  now(): number;
  /** Epoch milliseconds at the clock's zero. */
  readonly origin: number;
  /** Calls back after `ms`, or a little before or after: look at the clock. */
  after(ms: number, work: () => void): CancelTimer;
}

/** What `setTimeout` can wait at most. */
const longestTimer = 2 ** 31 - 1;

/**
 * The default clock: `performance.now` and `setTimeout`, looked up when they are used, so that fake timers count.
 *
 * The wall clock is read once, here: a step of it later changes nothing.
 */
export function monotonicClock(): Clock {
  const { performance } = globalThis;
  return {
    origin: Math.round(Date.now() - performance.now()),
    now: () => globalThis.performance.now(),
    after(ms, work) {
      // Rounded up: a timer that fires before its time only has to be set again.
      const timer = globalThis.setTimeout(work, Math.min(Math.ceil(ms), longestTimer));
      return () => globalThis.clearTimeout(timer);
    },
  };
}

/** The part of an RxJS scheduler that a clock needs. */
export interface SchedulerClock {
  now(): number;
  schedule(work: () => void, delay: number): { unsubscribe(): void };
}

/** A clock that follows an RxJS scheduler, such as a `TestScheduler`. */
export function schedulerClock(scheduler: SchedulerClock): Clock {
  return {
    origin: 0,
    now: () => scheduler.now(),
    after(ms, work) {
      const action = scheduler.schedule(work, Math.min(ms, longestTimer));
      return () => action.unsubscribe();
    },
  };
}
