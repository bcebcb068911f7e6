// Marked as pure, so that a bundle without a dispatcher does not contain them.
const queueMicrotask = /* @__PURE__ */ (() => globalThis.queueMicrotask)();
const resolved = /* @__PURE__ */ Promise.resolve();

/** A promise takes less time than `queueMicrotask`, but only the latter can be replaced by fake timers. */
function microtask(work: () => void): void {
  if (globalThis.queueMicrotask === queueMicrotask) void resolved.then(work);
  else globalThis.queueMicrotask(work);
}

/**
 * A function that runs `work` after the microtasks of this turn of the event loop, including those that they add.
 *
 * A tick (`process.nextTick`) that a microtask requests runs after all microtasks. Browsers have no ticks: there, a timer runs
 * `work`. The functions are looked up when used, so that fake timers apply.
 */
export function endOfTurn(work: () => void): () => void {
  const tick = () => globalThis.process.nextTick(work);
  return () => {
    const { process } = globalThis as { process?: Partial<NodeJS.Process> };
    if (process?.nextTick) microtask(tick);
    else globalThis.setTimeout(work);
  };
}

/** Runs `work` in the next turn of the event loop, after it has read its sockets. */
export function nextTurn(work: () => void): void {
  if (globalThis.setImmediate) globalThis.setImmediate(work);
  else globalThis.setTimeout(work);
}
