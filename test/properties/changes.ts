import type fc from 'fast-check';
import { type Carried, carriedOver } from './carried.ts';
import { historiesOf } from './history.ts';
import { judge } from './judge.ts';
import type { Standing } from './oracle.ts';
import { type Fleet, replay, someone } from './replay.ts';
import { slower, spans } from './scaled.ts';
import * as specs from './specs.ts';
import type { History } from './steps.ts';
import { type Grant, ledgerNow } from './world.ts';

/** A history under one limit, and what goes on after another one was stored. */
export interface Change {
  before: History;
  after: History;
}

/** Limits by what they are called. */
export const kinds: Record<string, fc.Arbitrary<specs.LimitSpec>> = {
  'a sliding window': specs.exactSlidingWindows,
  'a fixed window': specs.fixedWindows('first'),
  'a fixed window on the clock': specs.fixedWindows('epoch'),
  'a token bucket': specs.tokenBuckets,
  'a leaky bucket': specs.leakyBuckets,
};

/** Histories in which a limit of one kind takes the place of one of another. */
export function changes(
  old: fc.Arbitrary<specs.LimitSpec>,
  young: fc.Arbitrary<specs.LimitSpec>,
): fc.Arbitrary<Change> {
  return specs
    .record<Change & { span: number }>({
      before: historiesOf(old, { refunds: false, stepsBack: false, maxLength: 25 }),
      after: historiesOf(young, { stepsBack: false, maxLength: 35 }),
      span: spans,
    })
    .map(({ before, after, span }): Change => ({ before: slower(before, span), after: slower(after, span) }));
}

export function standingOf(grants: readonly Grant[]): Standing[] {
  return grants.map(({ ledgerMoment, cost, count }) => ({ t: ledgerMoment, n: cost[0] * count }));
}

/**
 * Stores the second limit after the first history: answers when, and what it may have taken over and still has to count.
 */
export function change({ before, after }: Change, fleet: Fleet): { now: number; carried: () => Carried[][] } {
  replay(before, fleet, judge);
  const { world } = fleet;
  const [old, young] = [before.limits[0], after.limits[0]];
  const stood = standingOf(world.standing);
  store(after.limits, fleet);
  // Says of which epoch the change is: another one tells that the line has moved up since.
  const asksForNothing = { runs: [], horizon: 0, held: 0, epoch: 0 };
  fleet.call({ kind: 'reserve', client: someone, serverUs: world.serverUs, request: asksForNothing });
  const now = ledgerNow(world);
  const over = (standing: Standing[], isLate: boolean) => carriedOver(old, young, standing, now, isLate);
  const all = [over(stood, false), over(stood, true)];
  const carried = () => {
    // Under another kind, nothing of it is given back.
    if (old.kind !== young.kind) return all;
    const left = standingOf(world.standing.filter(({ phase }) => phase < world.phase));
    if (old.kind !== 'fixedWindow') return [over(left, false), over(left, true)];
    // A window goes on where it started, with what is left in it.
    const leftIn = ({ t, n }: Standing) => {
      const used = left.filter((one) => one.t >= t && one.t < t + old.interval);
      return Math.min(
        n,
        used.reduce((sum, one) => sum + one.n, 0),
      );
    };
    const usedIn = ({ before, ...window }: Carried): Carried => ({
      ...window,
      n: leftIn(window),
      ...(before ? { before: { t: before.t, n: leftIn(before) } } : {}),
    });
    return all.map((windows) => windows.map(usedIn).filter(({ n }) => n > 0));
  };
  return { now, carried };
}

/** Stores limits, which what is granted goes on counting under. */
export function store(limits: readonly specs.LimitSpec[], { world, call }: Fleet): void {
  const change = { limits, ifAbsent: false, keepState: true };
  call({ kind: 'setRate', client: 0, serverUs: world.serverUs, change });
}
