import type { CancelTimer, Clock } from '../clock.ts';

/** The one timer of a line. */
export class Timer {
  readonly #clock: Clock;
  readonly #work: () => void;
  #cancel: CancelTimer | undefined;
  #at = Infinity;

  constructor(clock: Clock, work: () => void) {
    this.#clock = clock;
    this.#work = work;
  }

  /** Sets the timer for a time by the clock, in place of the one before; Infinity for none. */
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
