import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { Subject } from 'rxjs';

/** Characters that are gathered before they are written, within one turn of the event loop. */
const most = 65_536;

/** Lines on their way to a stream: those of one turn are written together. */
export class Output {
  readonly #stream: Writable;
  readonly #beforeWrite: () => void;
  readonly #full = new Subject<void>();
  #text = '';
  #scheduled = false;
  /** Emits when the stream takes no more for now. */
  readonly full$ = this.#full.asObservable();
  /** Rejects when the stream fails. */
  readonly failed: Promise<never>;

  /**
   * @param stream what is written to
   * @param beforeWrite called before every write
   */
  constructor(stream: Writable, beforeWrite: () => void = () => {}) {
    this.#stream = stream;
    this.#beforeWrite = beforeWrite;
    this.failed = new Promise((_, reject) => stream.on('error', reject));
    // Whoever waits hears of it; a failure that nobody waits for is none.
    this.failed.catch(() => {});
  }

  /** Takes one line, of one character for each byte. */
  line(text: string): void {
    this.#text += `${text}\n`;
    if (this.#text.length >= most) this.#flush();
    else if (!this.#scheduled) {
      this.#scheduled = true;
      process.nextTick(() => {
        this.#scheduled = false;
        this.#flush();
      });
    }
  }

  /** Resolves when the stream takes more. */
  async ready(): Promise<void> {
    this.#flush();
    if (this.#stream.writableNeedDrain) await once(this.#stream, 'drain');
  }

  /** Resolves when everything is written, or cannot be. */
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
