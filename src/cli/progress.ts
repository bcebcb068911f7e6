import type { Tally } from './pump.ts';

/** Milliseconds between two updates. */
const period = 200;
/** Milliseconds over which the rate is averaged. */
const span = 2_000;

/** A progress line on a terminal, which overwrites itself: lines so far, their rate, and waiting lines. */
export class Progress {
  readonly #terminal: { write(text: string): unknown };
  readonly #tally: Readonly<Tally>;
  readonly #now: () => number;
  /** Earlier samples, as far back as `span`. */
  readonly #samples: { at: number; lines: number }[];
  readonly #timer: NodeJS.Timeout;
  #shown = false;

  /**
   * @param terminal the terminal to draw on
   * @param tally the figures to draw
   * @param now a monotonic clock in milliseconds
   */
  constructor(
    terminal: { write(text: string): unknown },
    tally: Readonly<Tally>,
    now = () => performance.now(),
  ) {
    this.#terminal = terminal;
    this.#tally = tally;
    this.#now = now;
    this.#samples = [{ at: now(), lines: tally.lines }];
    this.#timer = setInterval(() => this.draw(), period);
    this.#timer.unref();
  }

  /** Draws the line. */
  draw(): void {
    const { lines, waiting } = this.#tally;
    const at = this.#now();
    this.#samples.push({ at, lines });
    while (this.#samples[1].at <= at - span) this.#samples.shift();
    const [oldest] = this.#samples;
    const rate = at > oldest.at ? ((lines - oldest.lines) * 1000) / (at - oldest.at) : 0;
    this.#terminal.write(`\r${lines} lines, ${rate.toFixed(rate < 100 ? 1 : 0)}/s, ${waiting} waiting\x1b[K`);
    this.#shown = true;
  }

  /** Clears the line until it is drawn again, so that other output does not mix with it. */
  clear(): void {
    if (this.#shown) this.#terminal.write('\r\x1b[K');
    this.#shown = false;
  }

  /** Draws the line a last time, and ends it. */
  end(): void {
    clearInterval(this.#timer);
    this.draw();
    this.#terminal.write('\n');
  }
}
