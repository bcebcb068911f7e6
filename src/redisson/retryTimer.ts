import type { CancelTimer, Clock } from '../clock.ts';

/** Waits that end at a time of their own, or all at once. */
export class RetryTimer {
  readonly #clock: Clock;
  readonly #waits = new Map<(error: Error) => void, CancelTimer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at a time by the clock, and not before: a timer may fire a little early. */
  until(time: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const left = time - this.#clock.now();
        if (left > 0) {
          this.#waits.set(reject, this.#clock.after(left, look));
          return;
        }
        this.#waits.delete(reject);
        resolve();
      };
      look();
    });
  }

  /** Ends all waits with an error. */
  end(error: Error): void {
    for (const [reject, cancel] of this.#waits) {
      cancel();
      reject(error);
    }
    this.#waits.clear();
  }
}
