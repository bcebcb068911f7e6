import type { Cost, DecideReply, Refund, ReserveReply, ReserveRequest } from '../../src/stores/store.ts';
import { cancel, give } from './givingBack.ts';
import type { History, Step } from './steps.ts';

/** A call on a ledger, as plain data, and the server's time at which it arrives. */
export type Call = { client: number; serverUs: number } & (
  | { kind: 'reserve'; request: ReserveRequest }
  | { kind: 'decide'; cost: Cost }
  | { kind: 'refund'; refunds: readonly Refund[]; sequence: number }
  | { kind: 'peek' }
);

/** What a ledger answers: permits left for a peek, nothing for a refund. */
export type CallReply = ReserveReply | DecideReply | number[] | undefined;

/** Requests that were granted or booked, and not given back. */
export interface Grant {
  client: number;
  cost: Cost;
  count: number;
  /** The granted moment by the server's clock, as the client was told. */
  moment: number;
  /** The same moment by a clock that stands still until the server's has caught up after a step: the ledger's. */
  ledgerMoment: number;
  /** When the client may go, in microseconds by the server's clock: its moment, or before that when it is granted at once. */
  serverUs: number;
  /** The same in true time: if the server's clock had never been set back. */
  trueUs: number;
  /** How often the ledger had seen the server's clock go back. */
  era: number;
  /** What a refund must carry; 0 where there is no giving back. */
  epoch: number;
}

/** A history on its way: what time it is, what stands, and what each client knows. */
export interface World {
  serverUs: number;
  /** Milliseconds by which the server's clock has been set back. */
  setBack: number;
  /** Milliseconds by which the ledger's clock is ahead of the server's; the latest time it has seen; see {@link Grant.era}. */
  shift: number;
  seen: number;
  era: number;
  standing: Grant[];
  clients: Map<number, { epoch: number; sequence: number; last: readonly Refund[] }>;
}

export function createWorld({ startUs }: History): World {
  return { serverUs: startUs, setBack: 0, shift: 0, seen: 0, era: 0, standing: [], clients: new Map() };
}

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
  followClock(world);
  if (step.kind === 'peek') return { ...base, kind: 'peek' };
  if (step.kind === 'decide') return { ...base, kind: 'decide', cost: step.cost };
  const knows = knownBy(world, client);
  if (step.kind === 'reserve') {
    const { runs, horizon, held } = step;
    return { ...base, kind: 'reserve', request: { runs, horizon, held, epoch: knows.epoch } };
  }
  if (step.kind === 'resend')
    return { ...base, kind: 'refund', refunds: knows.last, sequence: knows.sequence };
  knows.last =
    step.kind === 'cancel' ? cancel(world, step) : step.picks.flatMap((pick) => give(world, client, pick));
  return { ...base, kind: 'refund', refunds: knows.last, sequence: ++knows.sequence };
}

/** Notes what the reply to a call granted and booked. */
export function settle(world: World, call: Call, reply: CallReply): void {
  const { client, serverUs } = call;
  if (call.kind === 'decide' && (reply as DecideReply).granted)
    note(world, client, call.cost, 1, serverUs, 0);
  if (call.kind !== 'reserve') return;
  const { epoch, segments } = reply as ReserveReply;
  knownBy(world, client).epoch = epoch;
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
  const { setBack, shift, era } = world;
  const moment = Math.ceil(serverUs / 1000);
  const trueUs = serverUs + setBack * 1000;
  const ledgerMoment = moment + shift;
  world.standing.push({ client, cost, count, moment, ledgerMoment, serverUs, trueUs, era, epoch });
}

/** The clock that the design promises the ledger to have: it never goes back, and nobody waits for it to catch up. */
function followClock(world: World): void {
  const now = Math.floor(world.serverUs / 1000) + world.shift;
  if (now < world.seen) {
    world.shift += world.seen - now;
    world.era++;
  } else world.seen = now;
}

function knownBy(world: World, client: number) {
  const known = world.clients.get(client) ?? { epoch: 0, sequence: 0, last: [] };
  world.clients.set(client, known);
  return known;
}
