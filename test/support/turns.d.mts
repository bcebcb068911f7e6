/** One of several writers that share an output. */
export interface Turn {
  /** Says something: at once if it is this writer's turn, else when it is. */
  write(text: string): void;
  /** Lets the next one speak. */
  end(): void;
}

/** Lets writers at work at the same time share one output: the output of each follows when the earlier writers have ended. */
export function turns(count: number, write: (text: string) => void): Turn[];
