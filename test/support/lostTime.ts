/**
 * Counts from now on the milliseconds for which this process could not run due work: on a busy machine, no measurement
 * can be expected to be shorter.
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
