/** A loop that is entered until the callbacks of {@link together} have run. */
export interface Entered {
  /** Called after the last callback. */
  leave(): void;
}

let entered: Entered[] | undefined;

/** Runs callbacks, and only then the passes that they cause, those of synchronous stores too. */
export function together(callbacks: Iterable<() => void>): void {
  const outer = entered;
  const loops: Entered[] = [];
  entered = loops;
  try {
    for (const callback of [...callbacks]) callback();
  } finally {
    entered = outer;
    for (const loop of loops) loop.leave();
  }
}

/** While callbacks of {@link together} run, leaves a loop after them. Returns whether they run: the caller then enters the loop. */
export function leavesTogether(loop: Entered): boolean {
  entered?.push(loop);
  return entered !== undefined;
}
