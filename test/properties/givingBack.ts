import type { Cost, Refund } from '../../src/stores/store.ts';
import type { Pick, Step } from './steps.ts';
import type { Grant, World } from './world.ts';

/** Takes some of a client's grants and reservations from what stands: the refunds that say so. */
export function cancel(
  world: World,
  { client, every, newestFirst, ahead }: Step & { kind: 'cancel' },
): Refund[] {
  const line = refundable(world, client).filter((grant) => !ahead || grant.moment * 1000 > world.serverUs);
  const chosen = line.filter((_, i) => i % every === 0);
  if (newestFirst) chosen.reverse();
  return chosen.map((grant) => giveBack(world, grant, grant.count, grant.cost));
}

/** Takes some requests of one grant, or a part of their cost, from what stands. */
export function give(world: World, client: number, { place, count, parts }: Pick): Refund[] {
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
  return { moment: grant.moment, epoch: grant.epoch, source: 'memory', cost, count };
}
