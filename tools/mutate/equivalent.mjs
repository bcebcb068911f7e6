/*
 * Mutants that no test can detect, since they change no result: left out of the samples. Each states its file, the
 * change as a report prints it, and why the result is the same.
 */
export const equivalent = [];
