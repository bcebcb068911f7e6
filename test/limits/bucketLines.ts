import fc from 'fast-check';
import { tokenBucket } from '../../src/limits/limit.ts';
import { tokenBucketAlgebra as algebra, type TokenBucketState } from '../../src/limits/tokenBucket.ts';
import { record } from '../properties/specs.ts';

/** What happens to a bucket: plain data. Times are whole milliseconds but for `us`, which passes before the step. */
export interface BucketStep {
  kind: 'take' | 'refund' | 'release' | 'cut' | 'adopt';
  us: number;
  /** What is asked for: whether it may be booked, and how many milliseconds later than it could be, as for another limit. */
  permits: number;
  waits: boolean;
  later: number;
  /** Which of what stands is given back, in percent of the line, and how much of it. */
  place: number;
  part: number;
  rate: Rate;
}

export interface Rate {
  permits: number;
  interval: number;
  burst: number;
}

/** Permits that stand: when they were granted in microseconds, and the moment that the client was told. */
export interface Taken {
  us: number;
  moment: number;
  n: number;
  /** How often the rate had changed. */
  phase: number;
}

export const rates: fc.Arbitrary<Rate> = record({
  permits: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 300 })),
  interval: fc.integer({ min: 1, max: 60 }),
  burst: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 })),
});

const few = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
  fc.integer({ min: 1, max: 300 }),
);

export function bucketSteps(kinds: readonly BucketStep['kind'][]): fc.Arbitrary<BucketStep[]> {
  const step: fc.Arbitrary<BucketStep> = record({
    kind: fc.constantFrom(...kinds),
    us: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 0, max: 40 }).map((ms) => ms * 1000),
      fc.integer({ min: 0, max: 400_000 }),
    ),
    permits: few,
    waits: fc.boolean(),
    later: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 60 })),
    place: fc.integer({ min: 0, max: 99 }),
    part: fc.oneof({ weight: 3, arbitrary: fc.constant(100) }, fc.integer({ min: 0, max: 100 })),
    rate: rates,
  });
  return fc.array(step, { minLength: 1, maxLength: 40, size: 'max' });
}

/** A bucket on its way: what stands of it, and how its rate has changed. */
export interface Course {
  state: TokenBucketState;
  us: number;
  standing: Taken[];
  phases: { rate: Rate; since: number }[];
}

export function startBucket(rate: Rate, us: number): Course {
  const state = algebra.create(tokenBucket(rate));
  return { state, us, standing: [], phases: [{ rate, since: Math.floor(us / 1000) }] };
}

export function take(course: Course, step: BucketStep): void {
  course.us += step.us;
  const { state, us, standing, phases } = course;
  const [now, at] = [Math.floor(us / 1000), Math.ceil(us / 1000)];
  algebra.roll(state, now, 0);
  if (step.kind === 'take') {
    const n = Math.min(step.permits, state.burst);
    const free = Math.max(algebra.earliest(state, now, at, n), now + step.later);
    if (free > now && !step.waits) return;
    const moment = Math.max(at, free);
    if (algebra.fit(state, now, free > now ? moment : now, n) < 1)
      throw new Error(`${n} do not fit at ${moment}`);
    algebra.commit(state, now, moment, n);
    standing.push({ us: free > now ? moment * 1000 : us, moment, n, phase: phases.length });
  } else if (step.kind === 'refund') {
    if (standing.length === 0) return;
    const one = standing[Math.floor((step.place * standing.length) / 100)];
    const n = Math.ceil((one.n * step.part) / 100);
    if (n === 0) return;
    algebra.refund(state, now, one.moment, n);
    one.n -= n;
  } else if (step.kind === 'release') {
    algebra.release(state, now, at, step.permits);
    let left = step.permits;
    for (const one of [...standing].sort((a, b) => b.us - a.us)) {
      if (one.moment > at) continue;
      const n = Math.min(left, one.n);
      one.n -= n;
      left -= n;
    }
  } else if (step.kind === 'cut') {
    const after = now + step.later;
    algebra.cut(state, now, after);
    course.standing = standing.filter(({ moment, us }) => moment <= after || us <= course.us);
  } else {
    algebra.adopt(state, tokenBucket(step.rate));
    phases.push({ rate: step.rate, since: now });
  }
  course.standing = course.standing.filter(({ n }) => n > 0);
}
