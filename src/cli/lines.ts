import type { Readable } from 'node:stream';
import { Ring } from '../ring.ts';

/** Bytes to read ahead: enough for the lines of a round trip, and little memory. */
const maxBytes = 2 ** 19;

/**
 * The lines of a stream that have been read, without their newlines. Iterating removes them.
 *
 * Each character is one byte (latin1), so that all bytes pass unchanged, a carriage return before the newline included.
 */
export class Lines implements Iterable<string> {
  readonly #chunks: AsyncIterator<string[], void>;
  readonly #lines = new Ring<string>();
  /** Bytes of the lines that have been read. */
  #bytes = 0;
  #reading: Promise<void> | undefined;
  #ended = false;

  /** Starts to read. The last line may lack a newline. */
  constructor(input: Readable) {
    this.#chunks = linesOfChunks(input);
    this.#readOn();
  }

  /** The number of lines that have been read and not removed. */
  get waiting(): number {
    return this.#lines.length;
  }

  /** Resolves with true when lines have been read, and with false at the end of the stream. Rejects if the stream fails. */
  async some(): Promise<boolean> {
    while (this.waiting === 0 && this.#reading) await this.#reading;
    return this.waiting > 0;
  }

  /** Removes lines, and ends when there are none, even before the end of the stream. */
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
    if (this.#reading || this.#ended || this.#bytes >= maxBytes) return;
    this.#reading = this.#chunks.next().then(({ done, value }) => {
      this.#reading = undefined;
      if (done) this.#ended = true;
      else this.#put(value);
    });
    // `some` rejects with the error. If nothing awaits it, the rejection must not count as unhandled.
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

/** Yields the lines that end in each chunk, and at the end of the stream a last line without a newline. */
async function* linesOfChunks(input: Readable): AsyncGenerator<string[], void, undefined> {
  let rest = '';
  for await (const chunk of input) {
    const text: string = chunk.toString('latin1');
    // Searching the rest again would make a long line cost the square of its length.
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
