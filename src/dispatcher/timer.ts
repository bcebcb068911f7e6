import type { CancelTimer, Clock } from '../clock.ts';

/** The timer of a dispatcher. */
export class Timer {
  readonly #clock: Clock;
  readonly #work: () => void;
  #cancel: CancelTimer | undefined;
  #at = Infinity;

  constructor(clock: Clock, work: () => void) {
    this.#clock = clock;
    this.#work = work;
  }

  /** Sets the timer, or moves it. `at` is by the clock; Infinity for none. */
  set(at: number): void {
    if (at === this.#at) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#at = at;
    if (at === Infinity) return;
    this.#cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#cancel = undefined;
      this.#at = Infinity;
      this.#work();
    });
  }
}
