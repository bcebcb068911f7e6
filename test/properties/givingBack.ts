import type { Cost } from '../../src/limits/cost.ts';
import { debt, newestGrants, type Refund } from '../../src/stores/store.ts';
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

/** Takes permits of each limit from what was granted last, up to now, whoever it was granted to. */
export function release(world: World, permits: Cost): Refund[] {
  const now = Math.ceil(world.serverUs / 1000) + world.shift;
  const granted = world.standing.filter(({ ledgerMoment }) => ledgerMoment <= now);
  granted.sort((a, b) => b.trueUs - a.trueUs);
  const rest = [...permits];
  const left = granted.flatMap((grant) =>
    // Request by request: they need not lose the same.
    Array.from({ length: grant.count }, () => {
      const cost = grant.cost.map((n, i) => n - Math.min(n, grant.counts[i] ? rest[i] : 0));
      cost.forEach((n, i) => {
        rest[i] -= grant.cost[i] - n;
      });
      return { ...grant, cost, count: 1 };
    }),
  );
  const ahead = world.standing.filter((grant) => !granted.includes(grant));
  world.standing = [...ahead, ...left.filter(({ cost }) => cost.some((n) => n > 0))];
  return [{ moment: newestGrants, epoch: 0, source: 'memory', cost: permits, count: 1 }];
}

/** Charges permits that were used beyond what was granted. */
export function owe(permits: Cost): Refund[] {
  return [{ moment: debt, epoch: 0, source: 'memory', cost: permits, count: 1 }];
}

function refundable({ standing, gone }: World, client: number): Grant[] {
  return [...standing, ...gone].filter((grant) => grant.client === client && grant.epoch > 0);
}

/** What the client gives up stands no more, whether or not the ledger makes anything of it. */
function giveBack(world: World, grant: Grant, count: number, cost: Cost): Refund {
  const rest = grant.cost.map((n, i) => n - cost[i]);
  const held = world.standing.includes(grant) ? world.standing : world.gone;
  held.splice(held.indexOf(grant), 1);
  if (grant.count > count) held.push({ ...grant, count: grant.count - count });
  if (rest.some((n) => n > 0)) held.push({ ...grant, cost: rest, count });
  return { moment: grant.moment, epoch: grant.epoch, source: 'memory', cost, count };
}
