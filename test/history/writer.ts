import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { HistoryEvent } from './events.ts';

/** An event without its time, each kind separately. */
type Untimed<E> = E extends HistoryEvent ? Omit<E, 'at'> : never;

/** Writes the history of one process to its own file, at the end of each turn: a killed process loses one turn. */
export class HistoryWriter {
  readonly #file: number;
  #text = '';

  constructor(folder: string, process: string) {
    this.#file = openSync(join(folder, `${process}.jsonl`), 'a');
  }

  write(event: Untimed<HistoryEvent>, at = Date.now()): void {
    if (this.#text === '') setImmediate(() => this.flush());
    this.#text += `${JSON.stringify({ at, ...event })}\n`;
  }

  /** Writes the buffered events. */
  flush(): void {
    if (this.#text !== '') writeSync(this.#file, this.#text);
    this.#text = '';
  }
}
