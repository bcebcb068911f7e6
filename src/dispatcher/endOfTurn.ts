/**
 * Runs `work` after the microtasks of this turn of the event loop, including those that they add.
 *
 * A tick that a microtask requests runs after all microtasks. Browsers have no ticks, but timers. The functions are looked up
 * when used, so that fake timers apply.
 */
export function endOfTurn(work: () => void): void {
  const { process } = globalThis as { process?: Partial<NodeJS.Process> };
  if (process?.nextTick) globalThis.queueMicrotask(() => globalThis.process.nextTick(work));
  else globalThis.setTimeout(work);
}

/** Runs `work` in the next turn of the event loop, after it has read its sockets. */
export function nextTurn(work: () => void): void {
  if (globalThis.setImmediate) globalThis.setImmediate(work);
  else globalThis.setTimeout(work);
}
