import type { ReserveReply, Segment } from './store.ts';

/** Calls with each segment of a reply, and the run that it answers: those of each run are as many requests as it has. */
export function eachSegment<R extends { readonly count: number }>(
  runs: readonly R[],
  segments: readonly Segment[],
  work: (run: R, segment: Segment) => void,
): void {
  let index = 0;
  let answered = 0;
  for (const segment of segments) {
    const run = runs[index];
    work(run, segment);
    answered += segment.count;
    if (answered < run.count) continue;
    index++;
    answered = 0;
  }
}

/** The moment of what a reply grants: by the store's clock, whole. What is granted at once has it rounded up. */
export function momentOf({ now }: Pick<ReserveReply, 'now'>, delay: number): number {
  return delay === 0 ? Math.ceil(now) : Math.round(now + delay);
}
