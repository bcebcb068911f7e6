import fc from 'fast-check';
import { tokenBucket } from '../../src/limits/limit.ts';
import { tokenBucketAlgebra as algebra, type TokenBucketState } from '../../src/limits/tokenBucket.ts';
import { record } from '../properties/specs.ts';

/** A step of a bucket's history: plain data. Times are whole milliseconds, except `us`, the microseconds before the step. */
export interface BucketStep {
  kind: 'take' | 'refund' | 'release' | 'cut' | 'adopt';
  us: number;
  /** The requested permits, whether the request may wait, and by how many milliseconds another limit delays it. */
  permits: number;
  waits: boolean;
  later: number;
  /** Which grant is refunded, as its position in percent, and which part of it, in percent. */
  place: number;
  part: number;
  rate: Rate;
}

export interface Rate {
  permits: number;
  interval: number;
  burst: number;
}

/** Valid permits: when they were granted, in microseconds, and the moment in the client's reply. */
export interface BucketGrant {
  us: number;
  moment: number;
  n: number;
  /** The number of rates before it. */
  phase: number;
}

export const rates: fc.Arbitrary<Rate> = record({
  permits: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 300 })),
  interval: fc.integer({ min: 1, max: 60 }),
  burst: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 300 })),
});

const fewPermits = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
  fc.integer({ min: 1, max: 300 }),
);

export function bucketSteps(kinds: readonly BucketStep['kind'][], most = 40): fc.Arbitrary<BucketStep[]> {
  const step: fc.Arbitrary<BucketStep> = record({
    kind: fc.constantFrom(...kinds),
    us: fc.oneof(
      fc.constant(0),
      fc.integer({ min: 0, max: 3000 }),
      fc.integer({ min: 0, max: 40 }).map((ms) => ms * 1000),
      fc.integer({ min: 0, max: 400_000 }),
    ),
    permits: fewPermits,
    waits: fc.boolean(),
    later: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: 0, max: 60 })),
    place: fc.integer({ min: 0, max: 99 }),
    part: fc.oneof({ weight: 3, arbitrary: fc.constant(100) }, fc.integer({ min: 0, max: 100 })),
    rate: rates,
  });
  return fc.array(step, { minLength: 1, maxLength: most, size: 'max' });
}

/** A bucket, its valid grants, and its rates. */
export interface BucketHistory {
  state: TokenBucketState;
  us: number;
  grants: BucketGrant[];
  phases: { rate: Rate; since: number }[];
}

export function startBucket(rate: Rate, us: number): BucketHistory {
  const state = algebra.create(tokenBucket(rate));
  return { state, us, grants: [], phases: [{ rate, since: Math.floor(us / 1000) }] };
}

export function take(history: BucketHistory, step: BucketStep): void {
  history.us += step.us;
  const { state, us, grants, phases } = history;
  const [now, at] = [Math.floor(us / 1000), Math.ceil(us / 1000)];
  algebra.roll(state, now, 0);
  if (step.kind === 'take') {
    const n = Math.min(step.permits, state.burst);
    const free = Math.max(algebra.earliest(state, now, at, n), now + step.later);
    if (free > now && algebra.hasGap(state, now, at, n, Infinity, true)) {
      algebra.commit(state, now, at, n);
      grants.push({ us, moment: at, n, phase: phases.length });
      return;
    }
    if (free > now && !step.waits) return;
    const moment = Math.max(at, free);
    if (algebra.fit(state, now, free > now ? moment : now, n) < 1)
      throw new Error(`${n} do not fit at ${moment}`);
    algebra.commit(state, now, moment, n);
    grants.push({ us: free > now ? moment * 1000 : us, moment, n, phase: phases.length });
  } else if (step.kind === 'refund') {
    if (grants.length === 0) return;
    const one = grants[Math.floor((step.place * grants.length) / 100)];
    const n = Math.ceil((one.n * step.part) / 100);
    if (n === 0) return;
    algebra.refund(state, now, one.moment, n);
    one.n -= n;
  } else if (step.kind === 'release') {
    algebra.release(state, now, at, step.permits);
    let left = step.permits;
    // A release does not tell which permits: those that were charged last. A change charges the reservations.
    const chargedAt = ({ us, phase }: BucketGrant) => Math.min(us, 1000 * (phases[phase]?.since ?? Infinity));
    for (const one of [...grants].sort((a, b) => chargedAt(b) - chargedAt(a) || b.us - a.us)) {
      if (one.moment > at) continue;
      const n = Math.min(left, one.n);
      one.n -= n;
      left -= n;
    }
  } else if (step.kind === 'cut') {
    const after = now + step.later;
    algebra.cut(state, now, after);
    history.grants = grants.filter(({ moment, us }) => moment <= after || us <= history.us);
  } else {
    algebra.adopt(state, tokenBucket(step.rate), 0);
    phases.push({ rate: step.rate, since: now });
  }
  history.grants = history.grants.filter(({ n }) => n > 0);
}
