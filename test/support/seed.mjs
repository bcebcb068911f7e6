/** The seed of every random choice of a test, so that runs are reproducible. */
export const recordedSeed = 20_251_107;

/** The seed in force: SLUICE_SEED, or the recorded one. */
export function seed() {
  return Number(process.env.SLUICE_SEED || recordedSeed);
}

/** A random seed. */
export function anySeed() {
  return Math.floor(Math.random() * 2 ** 31);
}

/** Random numbers from 0 to 1 that follow from the seed in force and a name. Each call of the result returns the next one. */
export function randomOf(name) {
  let state = seed();
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
  return randomFrom(state);
}

/** Random numbers from 0 to 1 that follow from a number ("Mulberry 32"). */
export function randomFrom(start) {
  let state = start | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
