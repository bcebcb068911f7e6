/** What became of a file of tests. */
export interface UvuOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why the file itself counts as a failure, where it does. */
  readonly cause?: string;
  /** Milliseconds that it took, and those of the processor's time. */
  readonly wall?: number;
  readonly cpu?: number;
}

/** A file that a worker is to run. */
export interface UvuJob {
  /** Its absolute path. */
  readonly file: string;
  readonly seed: number;
  /** The part of its runs that a promise over random values gets. */
  readonly scale: number;
  /** How many milliseconds it may take. */
  readonly limit: number;
  /** Is given everything that the process prints meanwhile. */
  readonly write: (text: string) => void;
}

/** The prefix of the result of a file, which the process writes to its standard output. */
export const mark: string;

/** A process that runs uvu files, one at a time; one that dies, hangs or ends early is a failure of its file. */
export class UvuWorker {
  /** Whether it can run another file. */
  readonly lives: boolean;
  run(job: UvuJob): Promise<UvuOutcome>;
  /** Lets the process end, which it has to within `grace` milliseconds; answers what was wrong with that. */
  end(grace?: number): Promise<string | undefined>;
}
