/** The bytes of the heap after a collection of garbage. */
export function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
