/** The longest time that passes in one step, in milliseconds. */
const longest = 60_000;
/** Milliseconds between two steps with reduced motion. */
const step = 1_000;

/** Lets the time of the page pass: with each frame, or in steps of a second where the user prefers reduced motion. */
export class Loop {
  readonly #advance: (ms: number) => void;
  readonly #reduced = matchMedia('(prefers-reduced-motion: reduce)');
  #last = performance.now();
  #isStopped = false;
  #cancel = () => {};

  constructor(advance: (ms: number) => void) {
    this.#advance = advance;
    this.#reduced.addEventListener('change', () => this.#schedule());
    // Time stands still while the page is hidden.
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.catchUp();
      this.#last = performance.now();
    });
    this.#schedule();
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  set isStopped(isStopped: boolean) {
    this.catchUp();
    this.#isStopped = isStopped;
  }

  /** Lets the time since the last step pass. */
  catchUp(): void {
    const now = performance.now();
    const elapsed = Math.min(longest, now - this.#last);
    this.#last = now;
    if (!this.#isStopped) this.#advance(elapsed);
  }

  #schedule(): void {
    this.#cancel();
    const work = () => {
      this.catchUp();
      this.#schedule();
    };
    if (this.#reduced.matches) {
      const timer = setTimeout(work, step);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(work);
      this.#cancel = () => cancelAnimationFrame(frame);
    }
  }
}
