/** What is to be done when a signal aborts, and the one listener that does it. */
interface Watch {
  readonly works: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Does the work when the signal aborts; answers how to forget it.
 *
 * Many requests share a signal, that of a shutdown say: together they are one listener on it.
 */
export function onAbort(signal: AbortSignal, work: () => void): () => void {
  const watch = watches.get(signal) ?? start(signal);
  watch.works.add(work);
  return () => {
    watch.works.delete(work);
    if (watch.works.size > 0 || watches.get(signal) !== watch) return;
    watches.delete(signal);
    signal.removeEventListener('abort', watch.listener);
  };
}

function start(signal: AbortSignal): Watch {
  const works = new Set<() => void>();
  const watch = {
    works,
    listener: () => {
      for (const work of [...works]) work();
    },
  };
  watches.set(signal, watch);
  signal.addEventListener('abort', watch.listener);
  return watch;
}
