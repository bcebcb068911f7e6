import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

/** Collects the garbage, and returns the bytes left on the heap. */
export function collectGarbage(): number {
  gc();
  gc();
  return process.memoryUsage().heapUsed;
}
