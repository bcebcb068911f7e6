import { endOfTurn, nextTurn } from './endOfTurn.ts';

/** The works that are run in one turn of the event loop: thousands would block it. */
export const worksInTurn = 256;

/**
 * Runs works in their order, at the end of this turn of the event loop. After `most` of them, in this turn or in earlier ones, the
 * others wait for the next turn.
 */
export class WorkQueue {
  readonly #most: number;
  readonly #works: (() => void)[] = [];
  /** The works that may be run before the next turn. */
  #left: number;
  readonly #schedule = endOfTurn(() => this.#run());
  /** The time of the requests of this turn, if the clock was read since a work was added. */
  time: number | undefined;

  constructor(most = worksInTurn) {
    this.#most = most;
    this.#left = most;
  }

  add(work: () => void): void {
    if (this.#works.push(work) === 1) this.#await();
  }

  /** Runs a work at once, unless others wait, or have to. */
  run(work: () => void): void {
    if (this.#works.length > 0 || this.#left === 0) this.add(work);
    else {
      this.#left--;
      work();
    }
  }

  #await(): void {
    if (this.#left > 0) this.#schedule();
    else
      nextTurn(() => {
        this.#left = this.#most;
        this.#run();
      });
  }

  #run(): void {
    const works = this.#works;
    const { length } = works;
    let ended = 0;
    try {
      while (ended < length && this.#left > 0) {
        this.#left--;
        works[ended++]();
      }
    } finally {
      works.splice(0, ended);
      this.time = undefined;
      // The others, too, if one has thrown an error.
      if (works.length > 0) this.#await();
    }
  }
}
