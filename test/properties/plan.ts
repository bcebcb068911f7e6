import type { Cost } from '../../src/limits/cost.ts';
import { type DecideReply, newestGrants, type ReserveReply } from '../../src/stores/store.ts';
import type { Call, CallReply } from './calls.ts';
import { cancel, give, owe, release } from './givingBack.ts';
import { followMove, forgetAll, heed, pauseAll, storeRate } from './steered.ts';
import type { Step } from './steps.ts';
import { followClock, type Grant, inForce, knownBy, trueNow, type World } from './world.ts';

/** A release may be sent again for so long, and any refund of a bucket, which may never have been full since: milliseconds. */
const resent = 60_000;

/** Moves the world's time, or says which call the step makes, if any. What is given back stands no more from here on. */
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
  // These leave the ledger as it is: it sees the time of whichever call comes next.
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
    const { runs, horizon, held } = step;
    const last = held > 0 ? lastOf(world, client) : undefined;
    const request = { runs, horizon, held, epoch: knows.epoch, ...(last ? { last } : {}) };
    return { ...base, kind: 'reserve', request };
  }
  const trueUs = trueNow(world);
  if (step.kind === 'resend') {
    const inTime = trueUs <= knows.lastUs + resent * 1000;
    const hasBucket = inForce(world).some(({ kind }) => kind === 'tokenBucket');
    const refunds = knows.last.filter(({ moment }) => inTime || !(hasBucket || moment === newestGrants));
    return { ...base, kind: 'refund', refunds, sequence: knows.sequence };
  }
  knows.lastUs = trueUs;
  if (step.kind === 'cancel') knows.last = cancel(world, step);
  else if (step.kind === 'owe') knows.last = owe(step.permits);
  else if (step.kind === 'release') knows.last = release(world, step.permits);
  else knows.last = step.picks.flatMap((pick) => give(world, client, pick));
  return { ...base, kind: 'refund', refunds: knows.last, sequence: ++knows.sequence };
}

/** The last moment that a client holds booked. */
function lastOf({ standing, serverUs }: World, client: number): Grant | undefined {
  return standing
    .filter((grant) => grant.client === client && grant.moment * 1000 > serverUs)
    .reduce<Grant | undefined>(
      (last, grant) => (last && last.moment >= grant.moment ? last : grant),
      undefined,
    );
}

/** Notes what the reply to a call granted and booked, and what the call changed for all. */
export function settle(world: World, call: Call, reply: CallReply): void {
  const { client, serverUs } = call;
  if (call.kind === 'decide' && (reply as DecideReply).granted)
    note(world, client, call.cost, 1, serverUs, 0);
  if (call.kind === 'setRate') {
    const isFree = !call.change.ifAbsent || !world.stored;
    if (reply !== isFree) throw new Error(`stored: ${reply}, where it should be ${isFree}`);
    if (isFree) storeRate(world, call.change);
  }
  if (call.kind === 'pause') pauseAll(world, call.ms);
  if (call.kind === 'forget') forgetAll(world, call.rate);
  if (call.kind !== 'reserve') return;
  const { epoch, segments } = reply as ReserveReply;
  followMove(world, epoch);
  knownBy(world, client).epoch = epoch;
  heed(world, client, reply as ReserveReply);
  // Segments follow the runs: each run's are as many requests as it has.
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
  const takenOver = world.standing.some((grant) => grant.ledgerMoment > ledgerMoment);
  world.standing.push({
    takenOver,
    ...{ client, cost, count, moment, ledgerMoment, serverUs, trueUs, era, epoch, phase, moves },
    ...{ counts, voidSince: Infinity, pausedUntilUs },
  });
}
