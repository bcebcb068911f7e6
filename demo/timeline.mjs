/** Milliseconds of a bar. */
const slot = 250;
/** Milliseconds between two looks at the clock. */
const glance = 50;
/** Calls of one character. */
const scale = 3;

/** One bar for each quarter of a second: the calls that the API allowed, and those that it refused. */
export class Timeline {
  #out;
  #live;
  #start = performance.now();
  #bars = 0;
  #ok = 0;
  #refused = 0;
  #timer;

  constructor(out) {
    this.#out = out;
    this.#live = out.isTTY === true;
    this.#timer = setInterval(() => this.#look(), glance);
  }

  count(status) {
    this.#advance();
    if (status === 200) this.#ok++;
    else this.#refused++;
  }

  /** Draws the last bar, and says how long it took: milliseconds. */
  end() {
    clearInterval(this.#timer);
    this.#advance();
    if (this.#ok + this.#refused > 0) this.#next();
    else if (this.#live) this.#out.write('\r\x1b[K');
    return performance.now() - this.#start;
  }

  #advance() {
    while (performance.now() - this.#start >= (this.#bars + 1) * slot) this.#next();
  }

  #look() {
    this.#advance();
    if (this.#live) this.#out.write(`\r${this.#bar()}\x1b[K`);
  }

  #next() {
    this.#out.write(this.#live ? `\r${this.#bar()}\x1b[K\n` : `${this.#bar()}\n`);
    this.#bars++;
    this.#ok = 0;
    this.#refused = 0;
  }

  #bar() {
    const at = ((this.#bars * slot) / 1000).toFixed(2).padStart(6);
    const part = (count, character, colour) => {
      const bar = character.repeat(Math.ceil(count / scale));
      return this.#live ? `\x1b[${colour}m${bar}\x1b[39m` : bar;
    };
    const ok = this.#ok > 0 ? `${part(this.#ok, this.#live ? '█' : '=', 32)} ${this.#ok} × 200  ` : '';
    const refused =
      this.#refused > 0 ? `${part(this.#refused, this.#live ? '█' : 'x', 31)} ${this.#refused} × 429` : '';
    return `${at} s  ${ok}${refused}`.trimEnd();
  }
}
