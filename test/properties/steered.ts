import type { ReserveReply } from '../../src/stores/store.ts';
import type { RateSpec } from './calls.ts';
import type { LimitSpec } from './specs.ts';
import { type Grant, inForce, ledgerNow, trueNow, type World } from './world.ts';

/** Clients with waiters hear of a change within so many milliseconds: what is booked for later can be made void. */
export const heard = 2000;

/** A call may come so much later than it should: milliseconds. */
const late = 1000;

/** Nobody is granted anything for so many milliseconds of true time, or longer: a step of the clock never ends a pause. */
export function pauseAll(world: World, ms: number): void {
  world.pausedUntilUs = Math.max(world.pausedUntilUs, trueNow(world) + Math.floor(ms * 1000));
}

/** What was granted counts no more; nor does a pause hold, nor, where that is asked for, the stored rate. */
export function forgetAll(world: World, rate: boolean): void {
  world.pausedUntilUs = 0;
  if (rate) world.stored = undefined;
  leaveAll(world);
}

/** Another rate holds from now on; what was granted before counts on only in a sliding window that stays one. */
export function storeRate(world: World, { limits, keepState }: RateSpec): void {
  const before = inForce(world);
  world.stored = limits;
  if (!keepState) leaveAll(world);
  else if (JSON.stringify(before) !== JSON.stringify(limits)) {
    world.phase++;
    world.standing = world.standing.map((grant) => carried(grant, ledgerNow(world), before, limits));
  }
}

/**
 * Where the epoch changes for no other reason, the line has moved up: what was booked for later is void. A step of the
 * clock changes it too: then nobody but the ledger knows whether the line has moved as well.
 */
export function followMove(world: World, epoch: number): void {
  const { last, era, phase } = world;
  world.last = { epoch, era, phase };
  if (last.epoch === 0 || last.epoch === epoch || last.phase !== phase) return;
  world.moves++;
  const now = ledgerNow(world);
  const voidSince = last.era === era ? now : Infinity;
  world.standing = world.standing.map((grant) =>
    grant.ledgerMoment >= now + heard
      ? { ...grant, voidSince: Math.min(grant.voidSince, voidSince), counts: grant.counts.map(() => false) }
      : grant,
  );
}

function leaveAll(world: World): void {
  world.phase++;
  world.gone.push(...world.standing.splice(0));
}

function carried(
  grant: Grant,
  now: number,
  before: readonly LimitSpec[],
  after: readonly LimitSpec[],
): Grant {
  const voidSince = grant.ledgerMoment > now + heard ? now : Infinity;
  const counts = grant.counts.map((counted, i) => {
    const stays = before[i].kind === 'slidingWindow' && after[i].kind === 'slidingWindow';
    // The old window has forgotten what lay before it.
    return counted && voidSince === Infinity && stays && grant.ledgerMoment > now - before[i].interval;
  });
  return { ...grant, voidSince: Math.min(grant.voidSince, voidSince), counts };
}

/** The client drops what it is told stands no more: all that is void, if it asks as often as it should. */
export function heed(world: World, client: number, { epoch, voidAfter = Infinity }: ReserveReply): void {
  const nowUs = world.serverUs + world.shift * 1000;
  const fromUs = nowUs + Math.round(voidAfter * 1000);
  const isOlder = (grant: Grant) => grant.client === client && grant.epoch !== epoch;
  const ahead = world.standing.filter((grant) => isOlder(grant) && grant.trueUs > trueNow(world));
  const dropped = ahead.filter(({ ledgerMoment }) => ledgerMoment * 1000 >= fromUs);
  world.gone.push(...dropped);
  world.standing = world.standing.filter((grant) => !dropped.includes(grant));
  const isMissed = ({ voidSince }: Grant) =>
    nowUs < (voidSince + heard + late) * 1000 && voidSince < Infinity;
  const missed = ahead.find((grant) => isMissed(grant) && !dropped.includes(grant));
  if (missed) world.missed = `what client ${client} booked for ${missed.ledgerMoment}`;
}
