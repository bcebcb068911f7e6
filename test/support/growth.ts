import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Prepares some work of a size, and returns the function to be timed. */
type Prepare = (size: number) => () => void;

/**
 * The factor in processor time between the two sizes, each the best of three tries; of twenty if it is more than expected, by
 * default far from the factor of the sizes, since a busy machine makes some of them slow. The garbage of earlier work is collected
 * before each.
 */
export function growth(
  sizes: readonly [small: number, large: number],
  prepare: Prepare,
  expected = (2 * sizes[1]) / sizes[0],
): number {
  const best = [Infinity, Infinity];
  const factor = () => best[1] / Math.max(1, best[0]);
  for (let tries = 0; tries < 3 || (tries < 20 && factor() > expected); tries++)
    sizes.forEach((size, i) => {
      best[i] = Math.min(best[i], costOf(prepare(size)));
    });
  return factor();
}

function costOf(work: () => void): number {
  collectGarbage();
  // Fake timers do not replace it, and other load of the machine is not counted.
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
