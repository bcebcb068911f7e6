import type { Tally } from './pump.ts';

/** Milliseconds between two looks. */
const every = 200;
/** Milliseconds over which the rate is taken. */
const span = 2_000;

/** One line on a terminal that overwrites itself: lines so far, their rate, and how many wait. */
export class Progress {
  readonly #terminal: { write(text: string): unknown };
  readonly #tally: Readonly<Tally>;
  readonly #now: () => number;
  /** What was seen at earlier times, as far back as the rate reaches. */
  readonly #seen: { at: number; lines: number }[];
  readonly #timer: NodeJS.Timeout;
  #shown = false;

  /**
   * @param terminal where it is drawn
   * @param tally what is drawn
   * @param now a monotonic clock, in milliseconds
   */
  constructor(
    terminal: { write(text: string): unknown },
    tally: Readonly<Tally>,
    now = () => performance.now(),
  ) {
    this.#terminal = terminal;
    this.#tally = tally;
    this.#now = now;
    this.#seen = [{ at: now(), lines: tally.lines }];
    this.#timer = setInterval(() => this.draw(), every);
    this.#timer.unref();
  }

  /** Draws the line as it is now. */
  draw(): void {
    const { lines, waiting } = this.#tally;
    const at = this.#now();
    this.#seen.push({ at, lines });
    while (this.#seen[1].at <= at - span) this.#seen.shift();
    const [oldest] = this.#seen;
    const rate = at > oldest.at ? ((lines - oldest.lines) * 1000) / (at - oldest.at) : 0;
    this.#terminal.write(`\r${lines} lines, ${rate.toFixed(rate < 100 ? 1 : 0)}/s, ${waiting} waiting\x1b[K`);
    this.#shown = true;
  }

  /** Takes the line away until it is drawn again, so that other output does not mix with it. */
  clear(): void {
    if (this.#shown) this.#terminal.write('\r\x1b[K');
    this.#shown = false;
  }

  /** Draws it a last time, and leaves it standing. */
  end(): void {
    clearInterval(this.#timer);
    this.draw();
    this.#terminal.write('\n');
  }
}
