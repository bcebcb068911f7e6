/** One of several writers that share an output. */
export interface Turn {
  /** Writes the text: at once if the earlier writers have ended, otherwise when they have. */
  write(text: string): void;
  /** Ends this writer, so that the next one can write. */
  end(): void;
}

/** One output for concurrent writers: the first writes at once, each of the others when the earlier ones have ended. */
export function turns(count: number, write: (text: string) => void): Turn[];
