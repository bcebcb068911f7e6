/** Some uvu files that run in one process. */
export interface UvuGroup {
  /** The folder that uvu looks through. */
  readonly folder: string;
  /** The files, relative to the folder. */
  readonly files: readonly string[];
  /** Is given everything the process prints. */
  readonly write: (text: string) => void;
  /** How many milliseconds the process may take. */
  readonly limit: number;
  /** How many milliseconds the process may live on after its tests. */
  readonly grace?: number;
}

/** What became of a group. */
export interface UvuOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Why the process itself counts as a failure, where it does. */
  readonly cause?: string;
}

/** Runs some uvu files in a process of their own, and counts; a process that dies, hangs or ends early is a failure. */
export function runGroup(group: UvuGroup): Promise<UvuOutcome>;
