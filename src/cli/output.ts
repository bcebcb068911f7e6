import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { Subject } from 'rxjs';

/** Characters to gather within one turn of the event loop before a write. */
const maxText = 65_536;

/** Writes lines to a stream; the lines of one turn of the event loop in one write. */
export class Output {
  readonly #stream: Writable;
  readonly #beforeWrite: () => void;
  readonly #full = new Subject<void>();
  #text = '';
  #scheduled = false;
  /** Emits when the buffer of the stream is full. */
  readonly full$ = this.#full.asObservable();
  /** Rejects when the stream fails. */
  readonly failed: Promise<never>;

  /**
   * @param stream the stream to write to
   * @param beforeWrite called before each write
   */
  constructor(stream: Writable, beforeWrite: () => void = () => {}) {
    this.#stream = stream;
    this.#beforeWrite = beforeWrite;
    this.failed = new Promise((_, reject) => stream.on('error', reject));
    // If nothing awaits it, the rejection must not count as unhandled.
    this.failed.catch(() => {});
  }

  /** Adds a line, with one character for each byte. */
  line(text: string): void {
    this.#text += `${text}\n`;
    if (this.#text.length >= maxText) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(() => {
        this.#scheduled = false;
        this.#flush();
      });
    }
  }

  /** Resolves when the stream accepts more lines. */
  async ready(): Promise<void> {
    this.#flush();
    if (this.#stream.writableNeedDrain) await once(this.#stream, 'drain');
  }

  /** Resolves when all lines are written, or the stream has failed. */
  finished(): Promise<void> {
    this.#flush();
    return new Promise((resolve) => this.#stream.write('', () => resolve()));
  }

  #flush(): void {
    if (this.#text === '') return;
    const text = this.#text;
    this.#text = '';
    this.#beforeWrite();
    if (!this.#stream.write(text, 'latin1')) this.#full.next();
  }
}
