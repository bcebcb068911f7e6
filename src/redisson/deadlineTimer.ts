import type { CancelTimer, Clock } from '../clock.ts';

/** Waits for deadlines, until it is ended. */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #waits = new Map<(error: Error) => void, CancelTimer>();
  #ended: Error | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at a time by the clock, never earlier. */
  until(time: number): Promise<void> {
    if (this.#ended) return Promise.reject(this.#ended);
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

  /** Rejects all waits, also later ones. */
  end(error: Error): void {
    this.#ended = error;
    for (const [reject, cancel] of this.#waits) {
      cancel();
      reject(error);
    }
    this.#waits.clear();
  }
}
