import type { LedgerState } from '../../src/stores/memory/ledgerState.ts';
import type { ReserveReply } from '../../src/stores/store.ts';
import type { RateSpec } from './calls.ts';
import type { LimitSpec } from './specs.ts';
import { type Grant, inForce, knownBy, ledgerNow, trueNow, type World } from './world.ts';

/** Within this time every client with waiting requests calls again, in ms: later reservations can be voided. */
export const noticePeriod = 2000;

/** The longest delay of a client's call, in milliseconds. */
const maxDelay = 1000;

/** Pauses the fleet for at least `ms` of true time: a step of the clock never ends a pause early. */
export function pauseAll(world: World, ms: number): void {
  world.pausedUntilUs = Math.max(world.pausedUntilUs, trueNow(world) + Math.floor(ms * 1000));
}

/** Forgets all grants and the pause, and with `rate` the stored rate. */
export function forgetAll(world: World, rate: boolean): void {
  world.pausedUntilUs = 0;
  if (rate) world.stored = undefined;
  voidAll(world);
}

/** Stores a rate. Earlier grants keep counting only if a sliding window replaces a sliding window. */
export function storeRate(world: World, { limits, keepState }: RateSpec): void {
  const before = inForce(world);
  world.stored = limits;
  if (!keepState) voidAll(world);
  else if (JSON.stringify(before) !== JSON.stringify(limits)) {
    world.phase++;
    world.grants = world.grants.map((grant) => carried(grant, ledgerNow(world), before, limits));
  }
}

/**
 * The state of a ledger after a call: its epoch, and from when on reservations are void if its last change moved them up, in
 * milliseconds by the server's clock.
 */
export interface Changed {
  epoch: number;
  voidFrom: number | undefined;
}

/** The epoch is 0 if there is no ledger. */
export function changedIn(state: Pick<LedgerState, 'epoch' | 'voids' | 'shift'> | undefined): Changed {
  if (!state) return { epoch: 0, voidFrom: undefined };
  const { epoch, voids, shift } = state;
  const last = voids.at(-1);
  return { epoch, voidFrom: last?.epoch === epoch ? last.from - shift : undefined };
}

/** If reservations have moved up, the later ones are void, and none whose client may not learn of that before. */
export function noteMove(world: World, { epoch, voidFrom }: Changed): void {
  const { last, phase, shift } = world;
  world.last = { epoch, phase };
  if (last.epoch === 0 || last.epoch === epoch || last.phase !== phase) return;
  // A step of the clock changes the epoch, too.
  if (voidFrom === undefined) return;
  world.moves++;
  const now = ledgerNow(world);
  const from = voidFrom + shift;
  if (from < Math.min(now, world.steeredAt) + noticePeriod)
    world.fault = `void from ${from} on, which is too soon at ${now}`;
  world.grants = world.grants.map((grant) => {
    if (grant.ledgerMoment < from) return grant;
    return {
      ...grant,
      voidSince: Math.min(grant.voidSince, now),
      counts: grant.counts.map(() => false),
    };
  });
}

function voidAll(world: World): void {
  world.phase++;
  world.voided.push(...world.grants.splice(0));
}

function carried(
  grant: Grant,
  now: number,
  before: readonly LimitSpec[],
  after: readonly LimitSpec[],
): Grant {
  const voidSince = grant.ledgerMoment > now + noticePeriod ? now : Infinity;
  const counts = grant.counts.map((counted, i) => {
    const stays = before[i].kind === 'slidingWindow' && after[i].kind === 'slidingWindow';
    // The old window has forgotten earlier grants.
    return counted && voidSince === Infinity && stays && grant.ledgerMoment > now - before[i].interval;
  });
  return { ...grant, voidSince: Math.min(grant.voidSince, voidSince), counts };
}

/**
 * Whether a client does not refund a grant any more: its last reply is old, and may not tell what has become void since, and when
 * this was due, the client did not know whether it stood.
 */
export function isForgotten(world: World, { client, trueUs }: Grant): boolean {
  const { repliedUs } = knownBy(world, client);
  return trueNow(world) > repliedUs + 2 * noticePeriod * 1000 && trueUs >= repliedUs + noticePeriod * 1000;
}

/** Notes the reply to a client. Its forgotten grants remain so. */
export function noteReply(world: World, client: number, epoch: number): void {
  for (const held of [world.grants, world.voided])
    held.forEach((grant, i) => {
      if (grant.client === client && isForgotten(world, grant)) held[i] = { ...grant, epoch: 0 };
    });
  Object.assign(knownBy(world, client), { epoch, repliedUs: trueNow(world) });
}

/** Drops the reservations that the reply reports as void. A client that calls in time must learn of all of them. */
export function dropVoid(world: World, client: number, { epoch, voidAfter = Infinity }: ReserveReply): void {
  const nowUs = world.serverUs + world.shift * 1000;
  const fromUs = nowUs + Math.round(voidAfter * 1000);
  const isOlder = (grant: Grant) => grant.client === client && grant.epoch !== epoch;
  const ahead = world.grants.filter((grant) => isOlder(grant) && grant.trueUs > trueNow(world));
  const dropped = ahead.filter(({ ledgerMoment }) => ledgerMoment * 1000 >= fromUs);
  world.voided.push(...dropped);
  world.grants = world.grants.filter((grant) => !dropped.includes(grant));
  const isUnreported = ({ voidSince }: Grant) =>
    nowUs < (voidSince + noticePeriod + maxDelay) * 1000 && voidSince < Infinity;
  const unreported = ahead.find((grant) => isUnreported(grant) && !dropped.includes(grant));
  if (unreported)
    world.fault = `the reservation of client ${client} for ${unreported.ledgerMoment} is void, but not reported`;
}
