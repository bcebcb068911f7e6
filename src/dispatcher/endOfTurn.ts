/**
 * Calls back when all that is due in this turn of the event loop has run: promises, and what they go on to do, included.
 *
 * A tick that is asked for from a microtask comes when the microtasks have run out. Looked up when used, so that fake
 * timers count.
 */
export function endOfTurn(work: () => void): void {
  globalThis.queueMicrotask(() => globalThis.process.nextTick(work));
}

/** Calls back in the next turn of the event loop, once it has read what has come in. */
export function nextTurn(work: () => void): void {
  if (globalThis.setImmediate) globalThis.setImmediate(work);
  else globalThis.setTimeout(work);
}
