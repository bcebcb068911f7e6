import type fc from 'fast-check';
import { type Carried, carriedOver } from './carried.ts';
import { historiesOf } from './history.ts';
import { judge } from './judge.ts';
import type { PermitsAt } from './oracle.ts';
import { type Fleet, otherClient, replay } from './replay.ts';
import { slower, spans } from './scaled.ts';
import * as specs from './specs.ts';
import type { History } from './steps.ts';
import { type Grant, ledgerNow } from './world.ts';

/** A history under one limit, and the history after another limit was stored. */
export interface Change {
  before: History;
  after: History;
}

export const kinds: Record<string, fc.Arbitrary<specs.LimitSpec>> = {
  'a sliding window': specs.exactSlidingWindows,
  'a fixed window': specs.fixedWindows('first'),
  'a fixed window on the clock': specs.fixedWindows('epoch'),
  'a token bucket': specs.tokenBuckets,
  'a leaky bucket': specs.leakyBuckets,
};

/** Histories in which a limit of one kind replaces a limit of another kind. */
export function changes(
  old: fc.Arbitrary<specs.LimitSpec>,
  next: fc.Arbitrary<specs.LimitSpec>,
): fc.Arbitrary<Change> {
  return specs
    .record<Change & { span: number }>({
      before: historiesOf(old, { refunds: false, stepsBack: false, maxLength: 25 }),
      after: historiesOf(next, { stepsBack: false, maxLength: 35 }),
      span: spans,
    })
    .map(({ before, after, span }): Change => ({ before: slower(before, span), after: slower(after, span) }));
}

export function permitsByLedgerClock(grants: readonly Grant[]): PermitsAt[] {
  return grants.map(({ ledgerMoment, cost, count }) => ({ t: ledgerMoment, n: cost[0] * count }));
}

/** Stores the second limit after the first history. Returns when it did, and the grants that the new limit must still count. */
export function change({ before, after }: Change, fleet: Fleet): { now: number; carried: () => Carried[][] } {
  replay(before, fleet, judge);
  const { world } = fleet;
  const [old, next] = [before.limits[0], after.limits[0]];
  const earlier = permitsByLedgerClock(world.grants);
  store(after.limits, fleet);
  // Learns the epoch of the change: a later epoch shows that reservations have moved up since.
  const emptyRequest = { runs: [], horizon: 0, held: 0, epoch: 0 };
  fleet.call({ kind: 'reserve', client: otherClient, serverUs: world.serverUs, request: emptyRequest });
  const now = ledgerNow(world);
  const over = (grants: PermitsAt[], isLate: boolean) => carriedOver(old, next, grants, now, isLate);
  const all = [over(earlier, false), over(earlier, true)];
  const carried = () => {
    // A limit of another kind does not refund earlier grants.
    if (old.kind !== next.kind) return all;
    const left = permitsByLedgerClock(world.grants.filter(({ phase }) => phase < world.phase));
    if (old.kind !== 'fixedWindow') return [over(left, false), over(left, true)];
    // A window keeps its start, and the permits that were not refunded.
    const leftIn = ({ t, n }: PermitsAt) => {
      const used = left.filter((one) => one.t >= t && one.t < t + old.interval);
      return Math.min(
        n,
        used.reduce((sum, one) => sum + one.n, 0),
      );
    };
    const usedIn = ({ earlier = [], ...window }: Carried): Carried => ({
      ...window,
      n: leftIn(window),
      earlier: earlier.map((one) => ({ ...one, n: leftIn(one) })),
    });
    return all.map((windows) => windows.map(usedIn).filter(({ n }) => n > 0));
  };
  return { now, carried };
}

/** Stores limits; earlier grants count under them. */
export function store(limits: readonly specs.LimitSpec[], { world, call }: Fleet): void {
  const change = { limits, ifAbsent: false, keepState: true };
  call({ kind: 'setRate', client: 0, serverUs: world.serverUs, change });
}
