/**
 * Calls back when all that is due in this turn of the event loop has run: promises, and what they go on to do, included.
 *
 * A tick that is asked for from a microtask comes when the microtasks have run out. Looked up when used, so that fake
 * timers count.
 */
export function afterTurn(work: () => void): void {
  globalThis.queueMicrotask(() => globalThis.process.nextTick(work));
}
