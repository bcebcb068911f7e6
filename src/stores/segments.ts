import type { ReserveReply, Segment } from './store.ts';

/** Calls `work` with each segment of a reply and the run that it belongs to. The segments of a run add up to its count. */
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

/** The granted moment of a segment: whole epoch milliseconds by the store's clock. A grant at once has the time rounded up. */
export function momentOf({ now }: Pick<ReserveReply, 'now'>, delay: number): number {
  return delay === 0 ? Math.ceil(now) : Math.round(now + delay);
}
