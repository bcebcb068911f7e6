/** The calls of some processes over time, drawn as they come. */
export class Timeline {
  constructor(out: { readonly isTTY?: boolean; write(text: string): unknown }, processes: number);
  /** Counts the answer that a process got. */
  count(status: 200 | 429, process: number): void;
  /** Draws the last row. Returns the time since the start, in milliseconds. */
  end(): number;
}
