import {
  overAnyRestarts,
  overAnyWindows,
  overBucket,
  overGrid,
  overSliding,
  type PermitsAt,
} from './oracle.ts';
import type { LimitSpec } from './specs.ts';
import { type Grant, inForce, type World } from './world.ts';

/** Throws if the grants exceed one of the limits in force, or fall within a pause. */
export function judge(world: World): void {
  const { grants, phase, fault } = world;
  if (fault) throw new Error(fault);
  inForce(world).forEach((limit, i) => {
    const counted = grants.filter(({ counts }) => counts[i]);
    const latest = counted.filter((grant) => grant.phase === phase);
    const breach = breachOf(limit, latest, i) ?? overCarried(limit, counted, latest, i);
    if (breach) throw new Error(`limit ${i} is exceeded: ${breach}`);
  });
  for (const { trueUs, pausedUntilUs } of grants)
    if (trueUs < pausedUntilUs)
      throw new Error(`granted at ${trueUs}, during a pause until ${pausedUntilUs}`);
}

/** A sliding window that replaces a sliding window counts the grants before and after the change together. */
function overCarried(
  limit: LimitSpec,
  counted: readonly Grant[],
  latest: readonly Grant[],
  i: number,
): string | undefined {
  if (limit.kind !== 'slidingWindow' || counted.length === latest.length) return undefined;
  const momentOf = ({ ledgerMoment }: Grant) => ledgerMoment;
  const usOf = ({ trueUs }: Grant) => trueUs;
  const inTruth = judgedInTruth(counted);
  const latestInTruth = latest.filter((grant) => inTruth.includes(grant));
  return (
    overSliding(limit, permitsOf(counted, i, momentOf), permitsOf(latest, i, momentOf)) ??
    overSliding(inMicroseconds(limit), permitsOf(inTruth, i, usOf), permitsOf(latestInTruth, i, usOf))
  );
}

/**
 * Sliding windows and buckets are checked to the microsecond, in true time and by the ledger's clock, which stops after a step
 * back until the server's clock has caught up. A grant at a refunded moment is checked by the ledger's clock alone: in true
 * time, a step moves it towards the reservations after it. Fixed windows are checked by the ledger's clock: in true time, a
 * window that contains a step is longer. With `'epoch'` the grid moves with a step: grants between two steps are counted on the
 * grid, by the server's time; over all steps, the counter must have been reset at moments an interval or more apart, unless the
 * ledger was forgotten before a step.
 */
function breachOf(limit: LimitSpec, grants: readonly Grant[], i: number): string | undefined {
  const byLedger = permitsOf(grants, i, ({ ledgerMoment }) => ledgerMoment);
  const inTruth = permitsOf(judgedInTruth(grants), i, ({ trueUs }) => trueUs);
  if (limit.kind === 'slidingWindow')
    return overSliding(limit, byLedger) ?? overSliding(inMicroseconds(limit), inTruth);
  if (limit.kind === 'tokenBucket')
    return overBucket(limit, byLedger) ?? overBucket(inMicroseconds(limit), inTruth, 1000);
  if (limit.align === 'first') return overAnyWindows(limit, byLedger);
  for (const era of new Set(grants.map((grant) => grant.era))) {
    const ofEra = grants.filter((grant) => grant.era === era);
    const breach =
      overGrid(
        limit,
        permitsOf(ofEra, i, ({ moment }) => moment),
      ) ??
      overGrid(
        inMicroseconds(limit),
        permitsOf(ofEra, i, ({ serverUs }) => serverUs),
      );
    if (breach) return breach;
  }
  for (const ofLife of livesOf(grants, limit.interval)) {
    const breach = overAnyRestarts(
      limit,
      permitsOf(ofLife, i, ({ ledgerMoment }) => ledgerMoment),
    );
    if (breach) return breach;
  }
  return undefined;
}

/** A ledger with a window on the clock is forgotten so many milliseconds after it has ended. */
const keptFor = 1000;

/** Grants between which the ledger was forgotten and the clock stepped back: windows follow the grid of the new time then. */
function livesOf(grants: readonly Grant[], interval: number): Grant[][] {
  const lives: Grant[][] = [];
  let end = 0;
  let era: number | undefined;
  for (const grant of [...grants].sort((a, b) => a.ledgerMoment - b.ledgerMoment)) {
    if (lives.length === 0 || (grant.era !== era && grant.ledgerMoment >= end + keptFor)) lives.push([]);
    lives[lives.length - 1].push(grant);
    end = Math.max(end, grant.ledgerMoment + interval - (grant.moment % interval));
    era = grant.era;
  }
  return lives;
}

/** The grants to check in true time: after a step of the clock, those at refunded moments are left out. */
function judgedInTruth(grants: readonly Grant[]): readonly Grant[] {
  const hasStepped = new Set(grants.map(({ trueUs, serverUs }) => trueUs - serverUs)).size > 1;
  return hasStepped ? grants.filter(({ takenOver }) => !takenOver) : grants;
}

function inMicroseconds<L extends LimitSpec>(limit: L): L {
  return { ...limit, interval: limit.interval * 1000 };
}

function permitsOf(grants: readonly Grant[], i: number, momentOf: (grant: Grant) => number): PermitsAt[] {
  return grants
    .map((grant) => ({ t: momentOf(grant), n: grant.cost[i] * grant.count }))
    .filter(({ n }) => n > 0);
}
