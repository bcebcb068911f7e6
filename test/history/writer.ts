import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { HistoryEvent } from './events.ts';

/** An event without its time, each kind by itself. */
type Untimed<E> = E extends HistoryEvent ? Omit<E, 'at'> : never;

/** Writes the history of one process to a file of its own: at once, so that it is there when the process is killed. */
export class HistoryWriter {
  readonly #file: number;

  constructor(folder: string, process: string) {
    this.#file = openSync(join(folder, `${process}.jsonl`), 'a');
  }

  write(event: Untimed<HistoryEvent>, at = Date.now()): void {
    writeSync(this.#file, `${JSON.stringify({ at, ...event })}\n`);
  }
}
