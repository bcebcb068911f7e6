import type { CancelTimer } from '../clock.ts';
import type { Line } from '../port/line.ts';
import type { Arrival, Prefetch } from './prefetch.ts';

/** The permit of the value that is being pulled, which is given back when it has waited for that value for too long. */
export class HeldPermit<P> {
  readonly #line: Line<P>;
  readonly #permits: Prefetch<P>;
  readonly #gone: () => void;
  #arrival: Arrival<P> | undefined;
  #cancel: CancelTimer | undefined;

  /** `gone` is called when it has been given back for its age. */
  constructor(line: Line<P>, permits: Prefetch<P>, gone: () => void) {
    this.#line = line;
    this.#permits = permits;
    this.#gone = gone;
  }

  /** The permit, unless there is none, or it is too old to be used: then it is given back. */
  get current(): Arrival<P> | undefined {
    if (this.#arrival && this.#permits.isOld(this.#arrival)) this.#giveUp();
    return this.#arrival;
  }

  hold(arrival: Arrival<P>): void {
    this.#arrival = arrival;
  }

  /** Its value has come, and it is used. */
  use(): void {
    this.#arrival = undefined;
  }

  /** Gives it back, as its value will not come. */
  giveBack(): void {
    void this.#arrival?.permit.refund();
    this.#arrival = undefined;
    this.rest();
  }

  /**
   * Sees to it that it is given back in time. One timer serves all permits that follow each other: it is not set anew for
   * each, but looks at the one that it finds.
   */
  watch(): void {
    if (!this.#arrival || this.#cancel) return;
    const left = this.#permits.ageLeft(this.#arrival);
    // Only then has it waited for longer than it may.
    if (left < Infinity) this.#cancel = this.#line.after(left + 1, this.#look);
  }

  /** No permit is held for now: no timer is left. */
  rest(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    if (this.current) this.watch();
  };

  #giveUp(): void {
    this.#permits.giveUp(this.#arrival!);
    this.#arrival = undefined;
    this.#gone();
  }
}
