/**
 * Counts from now on the milliseconds for which this process could not run what was due: on a busy machine, nothing can be
 * expected to take less than that.
 */
export function lostTime(): () => number {
  const every = 5;
  let lost = 0;
  let due = performance.now() + every;
  const look = () => {
    const now = performance.now();
    lost += Math.max(0, now - due);
    due = now + every;
  };
  const timer = setInterval(look, every);
  return () => {
    clearInterval(timer);
    look();
    return lost;
  };
}
