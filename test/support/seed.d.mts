/** The seed of every random choice of a test, so that runs are reproducible. */
export const recordedSeed: number;

/** The seed in force: SLUICE_SEED, or the one that is recorded. */
export function seed(): number;

/** A random seed. */
export function anySeed(): number;

/** Random numbers from 0 to 1 that follow from the seed in force and a name. Each call of the result returns the next one. */
export function randomOf(name: string): () => number;
/** Random numbers from 0 to 1 that follow from a number alone. */
export function randomFrom(start: number): () => number;
