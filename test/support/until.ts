import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Calls the function repeatedly until its result is neither false, undefined nor null, and returns that result. An
 * attempt that throws counts as "not yet"; the last error is reported at the end of the time.
 */
export async function until<T>(
  what: string,
  attempt: () => Promise<T | false | undefined | null>,
  { within = 15_000, every = 25 } = {},
): Promise<T> {
  const deadline = performance.now() + within;
  let cause: unknown;
  do {
    try {
      const answer = await attempt();
      if (answer !== false && answer !== undefined && answer !== null) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await sleep(every);
  } while (performance.now() < deadline);
  throw new Error(`waited ${within} ms in vain: ${what}`, { cause });
}
