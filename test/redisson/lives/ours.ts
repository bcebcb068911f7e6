// The steps of our clients, and their expected effect on the log.
import { bytesOf, entryOf } from '../../../src/redisson/logEntry.ts';
import { type ClientId, counting, ownerFor } from './snapshot.ts';
import { type Amount, interval, type Step, type StepOf } from './steps.ts';
import { keysOf, lineOf } from './virtualRedis.ts';
import type { World } from './world.ts';

/** The number of permits that count after a call. */
export interface Expected {
  readonly least: number;
  readonly most: number;
}

type Ours = 'single' | 'several' | 'release' | 'refund' | 'look' | 'set rate';
export type OurStep = StepOf<Ours>;

/** Executes the step; returns nothing if the limiter has no rate. */
type Action<What extends Ours> = (world: World, step: StepOf<What>) => Promise<Expected | undefined>;

const exactly = (permits: number): Expected => ({ least: permits, most: permits });

/** The permits that count for a client before its call, and the number that it may request. */
function quotaOf({ before: { config, states }, us }: World, client: ClientId) {
  const used = config ? counting(states[ownerFor(config, client)], config.interval, us) : 0;
  const rate = config?.rate ?? 1;
  const of = { nothing: 0, free: rate - used, rate };
  return { rate, used, permits: (amount: Amount) => Math.max(1, of[amount.of] + amount.and) };
}

const numbers = (answer: unknown) => [answer].flat().map(Number);

const single: Action<'single'> = async (world, { client, permits: amount }) => {
  const { rate, used, permits: asFor } = quotaOf(world, client);
  const permits = asFor(amount);
  const bytes = bytesOf(lineOf(client), ++world.calls);
  const { acquire } = world.server.scripts;
  const reply = numbers(await acquire(keysOf[client].all, [entryOf(bytes, permits), permits]));
  if (reply.length === 0) return undefined;
  const granted = reply.length === 1 || reply[7] === 0;
  const fits = used + permits <= rate;
  if (granted !== fits)
    throw new Error(`${permits} were ${granted ? '' : 'not '}granted, with ${used} of ${rate} in use`);
  if (granted) world.granted[client].push({ bytes, moment: Math.ceil(world.us / 1000) });
  return exactly(granted ? used + permits : used);
};

const several: Action<'several'> = async (world, { client, runs }) => {
  const { rate, used, permits } = quotaOf(world, client);
  const bytes = bytesOf(lineOf(client), ++world.calls);
  const args = runs.flatMap(({ permits: amount, count, maxWait }) => [permits(amount), count, maxWait]);
  const { acquire } = world.server.scripts;
  const reply = numbers(await acquire(keysOf[client].all, [entryOf(bytes, args[0]), ...args]));
  if (reply.length === 0) return undefined;
  world.granted[client].push({ bytes, moment: Math.ceil(world.us / 1000) });
  // More than the rate may be in use after the rate was lowered.
  return { least: used, most: Math.max(used, rate) };
};

const release: Action<'release'> = async (world, { client, permits: amount }) => {
  const { used, permits } = quotaOf(world, client);
  const keys = [...keysOf[client].all, keysOf[client].sequence(lineOf(client))];
  const asked = permits(amount);
  await world.server.scripts.release(keys, [asked, ++world.calls]);
  return exactly(Math.max(0, used - asked));
};

const refund: Action<'refund'> = async (world, { client, back, permits }) => {
  const { used } = quotaOf(world, client);
  const grant = world.granted[client].at(-1 - back);
  if (!grant) return undefined;
  const args = [(++world.refunds % 255) + 1, grant.bytes, grant.moment, permits];
  const taken = Number(await world.server.scripts.refund(keysOf[client].all, args));
  // Refunded permits may have expired.
  return { least: used - taken, most: used };
};

const look: Action<'look'> = async (world, { client }) => {
  await world.server.scripts.available(keysOf[client].all, []);
  return exactly(quotaOf(world, client).used);
};

const setRate: Action<'set rate'> = async (world, step) => {
  const { client, when, rate, keepAlive, keepState } = step;
  const { config, states } = world.before;
  const perClient = config ? config.perClient !== step.otherType : step.perClient;
  const args = [when, rate, interval, Number(perClient), keepAlive, Number(keepState)];
  if (Number(await world.server.scripts.setRate(keysOf[client].all, args)) === 0) return undefined;
  const keeps = when === 'new' || (keepState && config?.perClient === perClient);
  return exactly(keeps ? counting(states[perClient ? client : 'all'], interval, world.us) : 0);
};

const actions: { readonly [What in Ours]: Action<What> } = {
  single,
  several,
  release,
  refund,
  look,
  'set rate': setRate,
};

export function isOurs(step: Step): step is OurStep {
  return step.what in actions;
}

/** The permits that count after the step; nothing if the step had no effect. */
export function doOurs(world: World, step: OurStep): Promise<Expected | undefined> {
  return (actions[step.what] as (world: World, step: OurStep) => Promise<Expected | undefined>)(world, step);
}
