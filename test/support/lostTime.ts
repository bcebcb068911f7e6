import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Counts from now on the milliseconds for which this process could not run due work: on a busy machine, no measurement
 * can be expected to be shorter. With a `ping`, those for which its reply was late count too.
 */
export function lostTime(ping?: () => Promise<unknown>): () => number {
  const every = 5;
  const replies = ping ? 2 : 0;
  let lost = 0;
  let ended = false;
  let due = performance.now() + every + replies;
  const look = () => {
    const now = performance.now();
    lost += Math.max(0, now - due);
    due = now + every + replies;
  };
  const run = async () => {
    while (!ended) {
      await sleep(every, undefined, { ref: false });
      await ping?.();
      if (!ended) look();
    }
  };
  // The last ping may fail as the test ends.
  run().catch(() => {});
  return () => {
    ended = true;
    look();
    return lost;
  };
}
