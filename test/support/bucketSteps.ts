import type { BucketHistory } from '../../src/limits/bucketSteps.ts';

/** The steps of a bucket that hold permits, the newest first. */
export function stepsOf(history: BucketHistory): Pick<BucketHistory, 'since' | 'until' | 'held'>[] {
  const steps = [];
  for (let step: BucketHistory['earlier'] = history; step && step.held > 0; step = step.earlier)
    steps.push(step);
  return steps;
}
