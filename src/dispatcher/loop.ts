import { endOfTurn } from './endOfTurn.ts';

/**
 * Runs the dispatcher's passes, one at a time. Work that arrives during a pass causes another pass after it, so that nothing
 * recurses and callbacks find the queue in a consistent state.
 */
export class Loop {
  readonly #sync: boolean;
  readonly #pass: () => void;
  readonly #done: () => void;
  #running = false;
  #repeat = false;
  #scheduled = false;

  /** `pass` does all that can be done now; `done` is called after the last pass of a run. */
  constructor(sync: boolean, pass: () => void, done: () => void) {
    this.#sync = sync;
    this.#pass = pass;
    this.#done = done;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** Whether another pass follows this one. */
  get isRepeating(): boolean {
    return this.#repeat;
  }

  /** Causes another pass after this one. */
  repeat(): void {
    this.#repeat = true;
  }

  /** Runs at once for a synchronous store, otherwise at the end of this turn: one call then carries all its requests. */
  wake(): void {
    if (this.#sync || this.#running) {
      this.run();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    endOfTurn(() => {
      this.#scheduled = false;
      this.run();
    });
  }

  /** Does some work, and then all that it makes possible. */
  run(work?: () => void): void {
    if (this.#running) {
      work?.();
      this.#repeat = true;
      return;
    }
    this.#running = true;
    try {
      work?.();
      do {
        this.#repeat = false;
        this.#pass();
      } while (this.#repeat);
    } finally {
      this.#running = false;
      this.#done();
    }
  }

  /** Defers passes until `leave`, without a closure: for the fast path. */
  enter(): void {
    this.#running = true;
  }

  leave(): void {
    this.#running = false;
    if (this.#repeat) this.run();
  }
}
