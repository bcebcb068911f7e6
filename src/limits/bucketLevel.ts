import type { Bucket, BucketHistory, Step } from './bucketSteps.ts';

/*
 * The levels of a bucket from now on, before reservations that are due later than their permits need. A step tells when it begins
 * and ends, and how much it holds. So these are lower bounds: each step is charged as it begins, and leaves the bucket no fuller than
 * that at its end.
 */

/** A level, and the least that it had. */
interface Run {
  level: number;
  time: number;
  least: number;
  /** The permits of reservations that count as taken already: the bucket has them still, so there is less room for the refill. */
  early: number;
}

/** Reservations up to this moment count as taken already. */
export function chargedTo({ unsureUntil, sameSince }: BucketHistory, now: number): number {
  return Math.max(now + 1, unsureUntil, sameSince - 1);
}

/** The permits held by later reservations. */
export function heldAhead(history: BucketHistory, now: number): number {
  const charged = chargedTo(history, now);
  let held = 0;
  for (let step: Step | undefined = history; step && step.since > charged; step = step.earlier)
    held += step.held;
  return held;
}

/** A run from `from` on, of a bucket with `level` units then. */
function runFrom(steps: readonly Step[], from: number, level: number, charged: number): Run {
  const early = steps.reduce((sum, { since, held }) => sum + (since <= charged ? held : 0), 0);
  return { level, time: from, least: level, early };
}

/** The steps that end after `t`, from the first to the last. */
function stepsAfter(history: BucketHistory, t: number): Step[] {
  const steps: Step[] = [];
  for (let step: Step | undefined = history; step && step.until > t; step = step.earlier) steps.push(step);
  return steps.reverse();
}

function refill({ burst, interval, permits }: Bucket, run: Run, t: number): void {
  if (t <= run.time) return;
  run.level = Math.min((burst - run.early) * interval, run.level + (t - run.time) * permits);
  run.time = t;
}

/** Lets time pass until the end of a step, or until `to`. */
function pass(bucket: Bucket, run: Run, { since, until, held }: Step, to: number, isCharged: boolean): void {
  const { burst, interval } = bucket;
  refill(bucket, run, Math.min(since, to));
  if (!isCharged) run.level -= held * interval;
  run.least = Math.min(run.least, run.level);
  refill(bucket, run, Math.min(until, to));
  run.level = Math.min(run.level, (burst - held) * interval);
  if (isCharged && until <= to) run.early -= held;
}

/** The level at `to`, of a bucket with `level` units at `from`. */
export function levelThen(bucket: Bucket, from: number, level: number, to: number): number {
  const charged = chargedTo(bucket, from);
  const steps = stepsAfter(bucket, from);
  const run = runFrom(steps, from, level, charged);
  // A grant that is made now is recorded at the next millisecond.
  for (const step of steps) if (step.since <= to + 1) pass(bucket, run, step, to, step.since <= charged);
  refill(bucket, run, to);
  return run.level;
}

/** The least level from `from` on until just before `before`, of a bucket with `level` units then. */
export function leastAhead(bucket: Bucket, now: number, from: number, level: number, before: number): number {
  const charged = Math.max(from, chargedTo(bucket, now));
  const steps = stepsAfter(bucket, from);
  const run = runFrom(steps, from, level, charged);
  for (const step of steps) if (step.since < before) pass(bucket, run, step, Infinity, step.since <= charged);
  return run.least;
}

/** The first moment, `t` or later, at which `cost` units are free ahead of the reservations. Infinity if none is known. */
export function freeBefore(bucket: Bucket, now: number, level: number, t: number, cost: number): number {
  const charged = chargedTo(bucket, now);
  const steps = stepsAfter(bucket, now);
  const run = runFrom(steps, now, level, charged);
  for (const step of steps) {
    const isCharged = step.since <= charged;
    const free = Math.max(t, run.time + Math.max(0, Math.ceil((cost - run.level) / bucket.permits)));
    if (free < (isCharged ? step.until : step.since)) {
      refill(bucket, run, free);
      // Negative, too, if there is no room for the refill.
      if (leastAhead(bucket, now, free, run.level - cost, Infinity) >= 0) return free;
    }
    pass(bucket, run, step, Infinity, isCharged);
  }
  return Infinity;
}
