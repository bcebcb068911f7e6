/** Prepares some work of a size, and answers what is to be timed. */
type Prepare = (size: number) => () => void;

/** How many times as much of the processor's time the larger of two sizes takes, the best of three tries of each. */
export function growth(sizes: readonly [small: number, large: number], prepare: Prepare): number {
  const [small, large] = sizes.map((size) => Math.min(...[0, 1, 2].map(() => costOf(prepare(size)))));
  return large / Math.max(1, small);
}

function costOf(work: () => void): number {
  // Fake timers leave it alone, and what else the machine does is not counted.
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
