import type { Cost } from '../../src/limits/cost.ts';
import { debt, newestGrants, type Refund } from '../../src/stores/store.ts';
import { isForgotten } from './steered.ts';
import type { Pick, Step } from './steps.ts';
import type { Grant, World } from './world.ts';

/** Refunds some of a client's grants and reservations. Returns the refunds to send. */
export function cancel(
  world: World,
  { client, every, newestFirst, ahead }: Step & { kind: 'cancel' },
): Refund[] {
  const ordered = refundable(world, client).filter((grant) => !ahead || grant.moment * 1000 > world.serverUs);
  const chosen = ordered.filter((_, i) => i % every === 0);
  if (newestFirst) chosen.reverse();
  return chosen.map((grant) => removeGrant(world, grant, grant.count, grant.cost));
}

/** Refunds some requests of one grant, or a part of their cost. */
export function refundPart(world: World, client: number, { place, count, parts }: Pick): Refund[] {
  const ordered = refundable(world, client);
  const grant = ordered[Math.floor((place * ordered.length) / 100)];
  const cost = grant?.cost.map((n, i) => Math.floor((n * parts[i]) / 100)) ?? [];
  return cost.some((n) => n > 0) ? [removeGrant(world, grant, Math.min(count, grant.count), cost)] : [];
}

/**
 * Releases permits of each limit: from the newest grants up to now, of any client. Those made before a change of the rate, which
 * are not judged with the others, may be meant as well: nobody refunds them again.
 */
export function release(world: World, permits: Cost): Refund[] {
  const now = Math.ceil(world.serverUs / 1000) + world.shift;
  const granted = world.grants.filter(({ ledgerMoment }) => ledgerMoment <= now);
  // After a step of the clock, a grant at a refunded moment may come later in true time than those after it.
  granted.sort((a, b) => b.ledgerMoment - a.ledgerMoment || b.trueUs - a.trueUs);
  const judged = [...permits];
  const earlier = [...permits];
  const left = granted.flatMap((grant) =>
    // Request by request: a release may take different parts of the requests of one grant.
    Array.from({ length: grant.count }, () => {
      const cost = grant.cost.map((n, i) => {
        const rest = grant.counts[i] ? judged : earlier;
        const released = Math.min(n, rest[i]);
        rest[i] -= released;
        return n - released;
      });
      return { ...grant, cost, count: 1 };
    }),
  );
  const ahead = world.grants.filter((grant) => !granted.includes(grant));
  world.grants = [...ahead, ...left.filter(({ cost }) => cost.some((n) => n > 0))];
  return [{ moment: newestGrants, epoch: 0, source: 'memory', cost: permits, count: 1 }];
}

/** Charges permits that were used beyond the granted ones. */
export function charge(permits: Cost): Refund[] {
  return [{ moment: debt, epoch: 0, source: 'memory', cost: permits, count: 1 }];
}

function refundable(world: World, client: number): Grant[] {
  const held = [...world.grants, ...world.voided];
  return held.filter((grant) => grant.client === client && grant.epoch > 0 && !isForgotten(world, grant));
}

/** Removes a refunded part of a grant, whether or not the ledger can restore it. */
function removeGrant(world: World, grant: Grant, count: number, cost: Cost): Refund {
  const rest = grant.cost.map((n, i) => n - cost[i]);
  const held = world.grants.includes(grant) ? world.grants : world.voided;
  held.splice(held.indexOf(grant), 1);
  if (grant.count > count) held.push({ ...grant, count: grant.count - count });
  if (rest.some((n) => n > 0)) held.push({ ...grant, cost: rest, count });
  return { moment: grant.moment, epoch: grant.epoch, source: 'memory', cost, count };
}
