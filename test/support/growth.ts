/** Prepares some work of a size, and returns the function to be timed. */
type Prepare = (size: number) => () => void;

/** The factor in processor time between the two sizes, the best of three tries of each. */
export function growth(sizes: readonly [small: number, large: number], prepare: Prepare): number {
  const [small, large] = sizes.map((size) => Math.min(...[0, 1, 2].map(() => costOf(prepare(size)))));
  return large / Math.max(1, small);
}

function costOf(work: () => void): number {
  // Fake timers do not replace it, and other load of the machine is not counted.
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
