import sinon from 'sinon';
import { test } from 'uvu';

/** A test on a fake clock, which starts at a whole second and is removed however the test ends. */
export function timed(title: string, work: (clock: sinon.SinonFakeTimers) => unknown): void {
  test(title, async () => {
    const clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
    try {
      await work(clock);
    } finally {
      sinon.restore();
    }
  });
}

/** The state of a promise by the clock of the test: pending, a value or a reason, with its time. */
export interface Fate<T> {
  at?: number;
  value?: T;
  reason?: Error;
}

export function fateOf<T>(promise: Promise<T>): Fate<T> {
  const fate: Fate<T> = {};
  promise.then(
    (value) => Object.assign(fate, { at: performance.now(), value }),
    (reason) => Object.assign(fate, { at: performance.now(), reason }),
  );
  return fate;
}

/** When each of them ended, in order; undefined if pending. */
export function times(fates: readonly Fate<unknown>[]): (number | undefined)[] {
  return fates.map(({ at }) => at);
}
