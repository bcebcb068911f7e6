import type { Cost, DecideReply, Refund, ReserveReply, ReserveRequest } from '../../src/stores/store.ts';
import type { History, Pick, Step } from './history.ts';

/** A call on a ledger, as plain data, and the server's time at which it arrives. */
export type Call = { client: number; serverUs: number } & (
  | { kind: 'reserve'; request: ReserveRequest }
  | { kind: 'decide'; cost: Cost }
  | { kind: 'refund'; refunds: readonly Refund[]; sequence: number }
  | { kind: 'peek' }
);

/** Requests that were granted or booked, and not given back. */
export interface Grant {
  client: number;
  cost: Cost;
  count: number;
  /** The granted moment by the server's clock, as the client was told. */
  moment: number;
  /** The same moment if the server's clock had never been set back. */
  trueMoment: number;
  /** The same moment by a clock that stands still until the server's has caught up after a step: the ledger's. */
  ledgerMoment: number;
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
  knows.last = step.kind === 'cancel' ? cancel(world, step) : step.picks.flatMap((pick) => give(world, client, pick));
  return { ...base, kind: 'refund', refunds: knows.last, sequence: ++knows.sequence };
}

/** Notes what the reply to a reserve call granted and booked. */
export function settleReserve(world: World, call: Call & { kind: 'reserve' }, { now, epoch, segments }: ReserveReply) {
  knownBy(world, call.client).epoch = epoch;
  // Segments follow the runs: each run's are as many requests as it has.
  let i = 0;
  for (const { count, cost } of call.request.runs)
    for (let left = count; left > 0; i++) {
      const segment = segments[i];
      left -= segment.count;
      if (segment.delay < 0) continue;
      const moment = segment.delay === 0 ? Math.ceil(now) : Math.round(now + segment.delay);
      note(world, call.client, cost, segment.count, moment, epoch);
    }
}

export function settleDecide(world: World, call: Call & { kind: 'decide' }, { granted }: DecideReply): void {
  if (granted) note(world, call.client, call.cost, 1, Math.ceil(call.serverUs / 1000), 0);
}

function note(world: World, client: number, cost: Cost, count: number, moment: number, epoch: number): void {
  const { setBack, shift, era } = world;
  const trueMoment = moment + setBack;
  world.standing.push({ client, cost, count, moment, trueMoment, ledgerMoment: moment + shift, era, epoch });
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

function cancel(world: World, { client, every, newestFirst }: Step & { kind: 'cancel' }): Refund[] {
  const ahead = refundable(world, client).filter(({ moment }) => moment * 1000 > world.serverUs);
  const chosen = ahead.filter((_, i) => i % every === 0);
  if (newestFirst) chosen.reverse();
  return chosen.map((grant) => giveBack(world, grant, grant.count, grant.cost));
}

function give(world: World, client: number, { place, count, parts }: Pick): Refund[] {
  const line = refundable(world, client);
  const grant = line[Math.floor((place * line.length) / 100)];
  const cost = grant?.cost.map((n, i) => Math.floor((n * parts[i]) / 100)) ?? [];
  return cost.some((n) => n > 0) ? [giveBack(world, grant, Math.min(count, grant.count), cost)] : [];
}

function refundable({ standing }: World, client: number): Grant[] {
  return standing.filter((grant) => grant.client === client && grant.epoch > 0);
}

/** What the client gives up stands no more, whether or not the ledger makes anything of it. */
function giveBack(world: World, grant: Grant, count: number, cost: Cost): Refund {
  const rest = grant.cost.map((n, i) => n - cost[i]);
  world.standing.splice(world.standing.indexOf(grant), 1);
  if (grant.count > count) world.standing.push({ ...grant, count: grant.count - count });
  if (rest.some((n) => n > 0)) world.standing.push({ ...grant, cost: rest, count });
  return { moment: grant.moment, epoch: grant.epoch, cost, count };
}
