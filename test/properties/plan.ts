import type { Cost } from '../../src/limits/cost.ts';
import type { DecideReply, Refund, ReserveReply } from '../../src/stores/store.ts';
import type { Call, CallReply } from './calls.ts';
import { cancel, charge, refundPart, release } from './refunds.ts';
import { type Changed, dropVoid, forgetAll, noteMove, noteReply, pauseAll, storeRate } from './steered.ts';
import type { Refunding, Step } from './steps.ts';
import { followClock, type Grant, inForce, knownBy, ledgerNow, trueNow, type World } from './world.ts';

/** How long a release, or a refund to a bucket, may be resent, in ms: a bucket may not have been full in between. */
const resent = 60_000;

/** Moves the world's time, or returns the call that the step makes. Refunded grants are removed from the world. */
export function plan(world: World, step: Step): Call | undefined {
  if (step.kind === 'advance') {
    world.serverUs += step.us;
    return undefined;
  }
  if (step.kind === 'stepBack') {
    const ms = Math.min(step.ms, Math.floor(world.serverUs / 1000));
    world.serverUs -= ms * 1000;
    world.setBack += ms;
    return undefined;
  }
  const { client } = step;
  const base = { client, serverUs: world.serverUs };
  // These calls do not open the ledger, which therefore does not see their time.
  if (step.kind === 'getRate') return { ...base, kind: 'getRate' };
  if (step.kind === 'pause') return { ...base, kind: 'pause', ms: step.ms };
  if (step.kind === 'forget') return { ...base, kind: 'forget', rate: step.rate };
  if (step.kind === 'setRate') {
    const { limits, ifAbsent, keepState } = step;
    if (!ifAbsent || !world.stored) followClock(world);
    return { ...base, kind: 'setRate', change: { limits, ifAbsent, keepState } };
  }
  followClock(world);
  if (step.kind === 'peek') return { ...base, kind: 'peek' };
  if (step.kind === 'decide') {
    const last = step.inLine ? lastOf(world, client) : undefined;
    return { ...base, kind: 'decide', cost: step.cost, ...(last ? { last } : {}) };
  }
  const knows = knownBy(world, client);
  if (step.kind === 'reserve') {
    const { runs, horizon, held, earlier = false, inLine = false } = step;
    const last = held > 0 || inLine ? lastOf(world, client) : undefined;
    const request = { runs, horizon, held, epoch: knows.epoch, ...(last ? { last, earlier } : {}) };
    return { ...base, kind: 'reserve', request };
  }
  const trueUs = trueNow(world);
  if (step.kind === 'resend') {
    const inTime = trueUs < knows.lastUs + resent * 1000;
    const hasBucket = inForce(world).some(({ kind }) => kind === 'tokenBucket');
    // Later, only the refund of a certain grant restores nothing again: not a release, nor a debt.
    const refunds = knows.last.filter(({ moment }) => inTime || (!hasBucket && moment >= 0));
    return { ...base, kind: 'refund', refunds, sequence: knows.sequence };
  }
  knows.lastUs = trueUs;
  knows.last =
    step.kind === 'batch' ? step.parts.flatMap((part) => refunds(world, part)) : refunds(world, step);
  return { ...base, kind: 'refund', refunds: knows.last, sequence: ++knows.sequence };
}

function refunds(world: World, step: Refunding): Refund[] {
  if (step.kind === 'cancel') return cancel(world, step);
  if (step.kind === 'owe') return charge(step.permits);
  if (step.kind === 'release') return release(world, step.permits);
  return step.picks.flatMap((pick) => refundPart(world, step.client, pick));
}

/** The client's last reservation. */
function lastOf({ grants, serverUs }: World, client: number): Grant | undefined {
  return grants
    .filter((grant) => grant.client === client && grant.moment * 1000 > serverUs)
    .reduce<Grant | undefined>(
      (last, grant) => (last && last.moment >= grant.moment ? last : grant),
      undefined,
    );
}

/** Applies a call, its reply, and the state of the ledger after it, to the world. */
export function settle(world: World, call: Call, reply: CallReply, changed: Changed): void {
  const { client, serverUs } = call;
  if (call.kind === 'decide' && (reply as DecideReply).granted)
    note(world, client, call.cost, 1, serverUs, 0);
  if (call.kind === 'setRate') {
    const isFree = !call.change.ifAbsent || !world.stored;
    if (reply !== isFree) throw new Error(`stored: expected ${isFree}, got ${reply}`);
    if (isFree) storeRate(world, call.change);
  }
  if (['setRate', 'pause', 'forget'].includes(call.kind)) world.steeredAt = ledgerNow(world);
  if (call.kind === 'pause') pauseAll(world, call.ms);
  if (call.kind === 'forget') forgetAll(world, call.rate);
  noteMove(world, changed);
  if (call.kind !== 'reserve') return;
  const { epoch, segments } = reply as ReserveReply;
  noteReply(world, client, epoch);
  dropVoid(world, client, reply as ReserveReply);
  // The segments of a run cover all of its requests, and follow in the order of the runs.
  let i = 0;
  for (const { count, cost } of call.request.runs)
    for (let left = count; left > 0; i++) {
      const { count: some, delay } = segments[i];
      left -= some;
      if (delay >= 0) note(world, client, cost, some, serverUs + Math.round(delay * 1000), epoch);
    }
}

function note(
  world: World,
  client: number,
  cost: Cost,
  count: number,
  serverUs: number,
  epoch: number,
): void {
  const { setBack, shift, era, phase, moves, pausedUntilUs } = world;
  const counts = cost.map(() => true);
  const moment = Math.ceil(serverUs / 1000);
  const trueUs = serverUs + setBack * 1000;
  const ledgerMoment = moment + shift;
  const takenOver = world.grants.some((grant) => grant.ledgerMoment > ledgerMoment);
  world.grants.push({
    takenOver,
    ...{ client, cost, count, moment, ledgerMoment, serverUs, trueUs, era, epoch, phase, moves },
    ...{ counts, voidSince: Infinity, pausedUntilUs },
  });
}
