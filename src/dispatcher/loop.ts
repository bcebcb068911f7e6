import { leavesTogether } from '../together.ts';
import type { WorkQueue } from '../workQueue.ts';

/** The work that a loop runs. */
export interface LoopPasses {
  /** Does all that can be done now. */
  pass(): void;
  /** Called after the last pass of a run, and when a timer may have to be set anew. */
  settle(): void;
}

/**
 * Runs the dispatcher's passes, one at a time. Work that arrives during a pass causes another pass after it, so that nothing
 * recurses and callbacks find the queue in a consistent state.
 */
export class Loop {
  readonly #sync: boolean;
  readonly #passes: LoopPasses;
  readonly #works: WorkQueue;
  #running = false;
  #repeat = false;
  #scheduled = false;
  readonly #runScheduled = (): void => {
    this.#scheduled = false;
    this.run();
  };

  constructor(sync: boolean, passes: LoopPasses, works: WorkQueue) {
    this.#sync = sync;
    this.#passes = passes;
    this.#works = works;
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** The queue of the next pass, if one is scheduled. */
  get scheduled(): WorkQueue | undefined {
    return this.#scheduled ? this.#works : undefined;
  }

  /** Whether another pass follows this one. */
  get isRepeating(): boolean {
    return this.#repeat;
  }

  /** Causes another pass after this one. */
  repeat(): void {
    this.#repeat = true;
  }

  /**
   * Runs at once for a synchronous store, but after the callbacks of `together`; otherwise at the end of this turn, or in
   * one of the next if many loops share the queue: one call then carries all its requests.
   */
  wake(): void {
    if (this.#sync || this.#running) {
      if (!this.#running && leavesTogether(this)) this.enter();
      this.run();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#works.add(this.#runScheduled);
  }

  /** Does some work, and then runs passes until none asks for another. */
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
        this.#passes.pass();
      } while (this.#repeat);
    } finally {
      this.#running = false;
      this.#passes.settle();
    }
  }

  /** Settles without a pass, unless one is running. */
  settle(): void {
    if (!this.#running) this.#passes.settle();
  }

  /** Defers passes until `leave`, without a closure. */
  enter(): void {
    this.#running = true;
  }

  leave(): void {
    this.#running = false;
    if (this.#repeat) this.run();
  }
}
