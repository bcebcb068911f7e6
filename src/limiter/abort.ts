import { together } from '../together.ts';

/** The callbacks of a signal, and the one listener that runs them. */
interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls back when the signal aborts. Returns a function that cancels this, to be called once.
 *
 * Many requests may share one signal, such as that of a shutdown: together they add one listener to it, and all have left
 * their queues before any pass runs.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const watch = watches.get(signal) ?? start(signal);
  watch.callbacks.add(callback);
  return () => {
    watch.callbacks.delete(callback);
    if (watch.callbacks.size > 0) return;
    watches.delete(signal);
    signal.removeEventListener('abort', watch.listener);
  };
}

function start(signal: AbortSignal): Watch {
  const callbacks = new Set<() => void>();
  const watch = { callbacks, listener: () => together(callbacks) };
  watches.set(signal, watch);
  signal.addEventListener('abort', watch.listener);
  return watch;
}
