/** The command line cannot be meant, or asks for what is not installed: the command ends with 2. */
export class UsageError extends Error {}

/** How the command ends. */
export interface Outcome {
  readonly code: number;
  /** What is said on standard error, on one line. */
  readonly message?: string;
}

/** How the command ends after an error. */
export function outcomeOf(error: unknown): Outcome {
  const { code, message } = error as NodeJS.ErrnoException;
  // Whoever reads has seen enough, as `head` does.
  if (code === 'EPIPE') return { code: 0 };
  const line = `sluice: ${message || code || error}`.replace(/\s*[\r\n]\s*/g, ' ');
  return { code: error instanceof UsageError ? 2 : 1, message: line };
}
