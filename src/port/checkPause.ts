import { durationUpTo } from '../validate.ts';

/** Milliseconds: about a century. */
const longest = 2 ** 42 - 1;

/** Refuses what cannot be the length of a pause in milliseconds. */
export function checkPause(name: string, ms: unknown): asserts ms is number {
  durationUpTo(name, ms, longest);
}
