import type { Readable } from 'node:stream';
import { Ring } from '../ring.ts';

/** Bytes that are read ahead: enough for the lines of a round trip, and little memory. */
const enough = 2 ** 19;

/**
 * The lines of a stream that have been read and wait, without their newlines; they are taken by iterating.
 *
 * A character stands for a byte (latin1), so that any bytes pass unchanged, a carriage return before the newline included.
 */
export class Lines implements Iterable<string> {
  readonly #chunks: AsyncIterator<string[], void>;
  readonly #lines = new Ring<string>();
  /** Bytes of those that wait. */
  #bytes = 0;
  #reading: Promise<void> | undefined;
  #ended = false;

  /** Begins to read. A last line need not end with a newline. */
  constructor(input: Readable) {
    this.#chunks = linesOfChunks(input);
    this.#readOn();
  }

  /** How many wait. */
  get waiting(): number {
    return this.#lines.length;
  }

  /** Resolves when there are lines that wait: `false` once there will be none. Rejects when the stream fails. */
  async some(): Promise<boolean> {
    while (this.waiting === 0 && this.#reading) await this.#reading;
    return this.waiting > 0;
  }

  /** Takes the lines that wait, and ends when there are none. */
  [Symbol.iterator](): Iterator<string, undefined> {
    return {
      next: () =>
        this.waiting > 0 ? { done: false, value: this.#take() } : { done: true, value: undefined },
    };
  }

  #take(): string {
    const line = this.#lines.shift();
    this.#bytes -= line.length + 1;
    this.#readOn();
    return line;
  }

  #readOn(): void {
    if (this.#reading || this.#ended || this.#bytes >= enough) return;
    this.#reading = this.#chunks.next().then(({ done, value }) => {
      this.#reading = undefined;
      if (done) this.#ended = true;
      else this.#put(value);
    });
    // That it fails is heard by whoever waits for more lines.
    this.#reading.catch(() => {});
  }

  #put(lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(line);
      this.#bytes += line.length + 1;
    }
    this.#readOn();
  }
}

/** The lines of each chunk, as far as they end in it, and at last the one that no newline ends. */
async function* linesOfChunks(input: Readable): AsyncGenerator<string[], void, undefined> {
  let rest = '';
  for await (const chunk of input) {
    const text: string = chunk.toString('latin1');
    // The rest is not searched again: a long line would cost the square of its length.
    if (!text.includes('\n')) {
      rest += text;
      continue;
    }
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    yield lines;
  }
  if (rest !== '') yield [rest];
}
