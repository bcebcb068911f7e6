/** The time of a row, in ms. */
const slot = 250;
/** The time between two updates, in ms. */
const glance = 50;
/** The number of calls that a character shows. */
const scale = 2;
/** The width of a column in characters. */
const width = 26;
/** Blue, yellow and magenta: green and red would look like success and failure. */
const colours = [34, 33, 35];
const red = 31;

/**
 * One row for each quarter of a second, with a column for each process: the calls that the API allowed, in the colour of the
 * process, and those that it refused.
 */
export class Timeline {
  #out;
  #live;
  #coloured;
  #columns;
  #start = performance.now();
  #rows = 0;
  #timer;

  /** @param processes the number of columns */
  constructor(out, processes) {
    this.#out = out;
    this.#live = out.isTTY === true;
    this.#coloured = this.#live && !process.env.NO_COLOR;
    this.#columns = Array.from({ length: processes }, () => ({ 200: 0, 429: 0 }));
    if (processes > 1) out.write(`${this.#row('', (i) => this.#paint(`process ${i + 1}`, colours[i]))}\n`);
    this.#timer = setInterval(() => this.#look(), glance);
  }

  /** Counts a reply to a process. */
  count(status, process) {
    this.#advance();
    this.#columns[process][status]++;
  }

  /** Draws the last row. Returns the time since the start, in milliseconds. */
  end() {
    clearInterval(this.#timer);
    this.#advance();
    if (this.#columns.some((column) => column[200] + column[429] > 0)) this.#next();
    else if (this.#live) this.#out.write('\r\x1b[K');
    return performance.now() - this.#start;
  }

  #advance() {
    while (performance.now() - this.#start >= (this.#rows + 1) * slot) this.#next();
  }

  #look() {
    this.#advance();
    if (this.#live) this.#out.write(`\r${this.#current()}\x1b[K`);
  }

  #next() {
    this.#out.write(this.#live ? `\r${this.#current()}\x1b[K\n` : `${this.#current()}\n`);
    this.#rows++;
    for (const column of this.#columns) column[200] = column[429] = 0;
  }

  #current() {
    const at = `${((this.#rows * slot) / 1000).toFixed(2)} s`;
    return this.#row(at, (i) => {
      const part = (status, character, colour) => {
        const count = this.#columns[i][status];
        if (count === 0) return { text: '', width: 0 };
        const bar = character.repeat(Math.ceil(count / scale));
        const text = `${this.#paint(bar, colour).text} ${count} `;
        return { text, width: bar.length + String(count).length + 2 };
      };
      const [ok, refused] = [part(200, '=', colours[i]), part(429, 'x', red)];
      return { text: ok.text + refused.text, width: ok.width + refused.width };
    });
  }

  /** A time and the cells of the columns, each padded to the width of its column. */
  #row(at, cell) {
    const cells = this.#columns.map((_, i) => {
      const { text, width: used } = cell(i);
      return text + ' '.repeat(Math.max(0, width - used));
    });
    return `${at.padStart(8)}  ${cells.join('')}`.trimEnd();
  }

  #paint(text, colour) {
    return { text: this.#coloured ? `\x1b[${colour}m${text}\x1b[39m` : text, width: text.length };
  }
}
