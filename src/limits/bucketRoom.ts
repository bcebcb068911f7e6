import { type BucketHistory, closed, type FormerRefill, type Refill, type Step } from './bucketSteps.ts';

/**
 * A lower bound of the room in the bucket just before each grant that followed `n` permits granted at `t`, in
 * units. `taken` are the units taken now: by all grants, or by those that begin up to `last`.
 */
export function roomAfter(
  history: BucketHistory,
  now: number,
  t: number,
  n: number,
  taken: number,
  { permits, interval }: Refill,
  last = Infinity,
): number {
  const { lastAt, sameSince, former } = history;
  // Units of refill since a moment; negative if the moment is ahead.
  const refillSince = (moment: number) => {
    if (moment > now) return (now - moment) * permits;
    const present = Math.max(0, now - Math.max(moment, sameSince)) * permits;
    return former ? present + formerRefill(former, moment, interval) : present;
  };
  let later = 0;
  let room = Infinity;
  for (let step: Step | undefined = history; step; step = step.earlier) {
    const { since, until, held } = step;
    if (since > last) continue;
    if (t > until) return room;
    if (t >= since && step === history && lastAt >= closed) return room;
    const others = t >= since ? held - n : held;
    later += others;
    // A reservation is made for a whole millisecond, so the level before it may exceed the capacity.
    const brim = until > now ? permits - 1 : 0;
    if (others > 0) room = Math.min(room, taken + refillSince(until) - later * interval + brim);
    if (t >= since) return room;
  }
  return 0;
}

/** A lower bound of the refill before the change of the rate, since a moment, in present units. */
function formerRefill({ from, until, ...former }: FormerRefill, moment: number, interval: number): number {
  const units = Math.max(0, until - Math.max(moment, from)) * former.permits;
  if (former.interval === interval) return units;
  // One unit less, as the permits taken were rounded up at the change; and less what the quotient may be rounded up.
  return Math.max(0, Math.floor((units / former.interval) * interval * (1 - 2 ** -50)) - 1);
}

/** An upper bound of the permits held for moments after `t`. */
export function heldAfter(history: BucketHistory, t: number): number {
  let held = 0;
  for (let step: Step | undefined = history; step && step.until > t; step = step.earlier) held += step.held;
  return held;
}
