/** The arguments are invalid, or need a package that is not installed: the exit code is 2. */
export class UsageError extends Error {}

/** The result of the command. */
export interface Outcome {
  readonly code: number;
  /** One line for standard error. */
  readonly message?: string;
}

/** The result of the command after an error. */
export function outcomeOf(error: unknown): Outcome {
  const { code, message } = error as NodeJS.ErrnoException;
  // The reader has closed the pipe, as `head` does.
  if (code === 'EPIPE') return { code: 0 };
  const line = `sluice: ${message || code || error}`.replace(/\s*[\r\n]\s*/g, ' ');
  return { code: error instanceof UsageError ? 2 : 1, message: line };
}
