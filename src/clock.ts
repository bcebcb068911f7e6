/** Cancels a timer; has no effect once the timer has fired. */
export type CancelTimer = () => void;

/** A monotonic clock with one-shot timers. */
export interface Clock {
  /** Monotonic milliseconds, perhaps fractional. */
  now(): number;
  /** Epoch milliseconds at the clock's zero. */
  readonly origin: number;
  /**
   * Calls `work` after about `ms`. A timer may fire slightly early, and a delay above about 24 days is cut: `work` has to check
   * the clock. If `keepsAlive` is false (true by default), the timer does not keep the process alive.
   */
  after(ms: number, work: () => void, keepsAlive?: boolean): CancelTimer;
}

/** The longest delay of `setTimeout` in milliseconds. */
const longestTimer = 0x7fff_ffff;

/**
 * The default clock: `performance.now` and `setTimeout`, looked up at each use, so that fake timers work.
 *
 * It reads the wall clock once, so later steps of the wall clock have no effect.
 */
export function monotonicClock(): Clock {
  const { performance } = globalThis;
  return {
    origin: Math.round(Date.now() - performance.now()),
    now: () => globalThis.performance.now(),
    after(ms, work, keepsAlive = true) {
      // Rounded up, since a timer that fires early has to be set again.
      const timer = globalThis.setTimeout(work, Math.min(Math.ceil(ms), longestTimer));
      if (!keepsAlive) timer.unref?.();
      return () => globalThis.clearTimeout(timer);
    },
  };
}

/** The part of an RxJS scheduler that a clock uses. */
export interface SchedulerClock {
  /** Milliseconds, or frames, since the scheduler's zero. */
  now(): number;
  /** Calls `work` after `delay` milliseconds, unless it is unsubscribed before. */
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
