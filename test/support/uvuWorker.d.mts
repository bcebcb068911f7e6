/** The result of a file of tests. */
export interface UvuOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why the file itself counts as a failure; undefined if it does not. */
  readonly cause?: string;
  /** Its time, and its processor time, in milliseconds. */
  readonly wall?: number;
  readonly cpu?: number;
}

/** A file for a worker to run. */
export interface UvuJob {
  /** Its absolute path. */
  readonly file: string;
  readonly seed: number;
  /** The factor for the number of runs of a property with random values. */
  readonly scale: number;
  /** The milliseconds that it may take. */
  readonly limit: number;
  /** Receives everything that the process prints meanwhile. */
  readonly write: (text: string) => void;
}

/** The prefix of the result of a file, which the process writes to its standard output. */
export const mark: string;

/** A process that runs uvu files, one at a time. If it dies, hangs or ends early, its file counts as a failure. */
export class UvuWorker {
  /** Whether it can run another file. */
  readonly lives: boolean;
  run(job: UvuJob): Promise<UvuOutcome>;
  /** Lets the process end within `grace` milliseconds. Returns the cause if it does not end well. */
  end(grace?: number): Promise<string | undefined>;
}
