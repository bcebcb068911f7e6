// Changes of the keys that ignore the log: expiries, changes by hand, and grants of a JVM client.
import type { OurStep } from './ours.ts';
import { ownerFor } from './snapshot.ts';
import type { Step, StepOf } from './steps.ts';
import { keysOf } from './virtualRedis.ts';
import type { World } from './world.ts';

type Others = Exclude<Step['what'], OurStep['what'] | 'tick'>;
type Action<What extends Others> = (world: World, step: StepOf<What>) => Promise<unknown>;

const { config: key } = keysOf.a;

const expire: Action<'expire'> = async ({ server, toldToEnd }, { client, ms }) => {
  toldToEnd.add('all').add(client);
  await server.scripts.expire(keysOf[client].original, [ms]);
};

const remove: Action<'delete'> = ({ server }, { client }) => server.redis.unlink(...keysOf[client].all);

const jvm: Action<'jvm'> = async ({ server, toldToEnd, before, us, calls }, step) => {
  const { client, permits, clockOffset, byte } = step;
  const [config, value, log, ownValue, ownLog] = keysOf[client].original;
  const random = Buffer.alloc(16, byte);
  random.writeUInt32LE(calls, 12);
  const args = [permits, Math.floor(us / 1000) + clockOffset, random];
  // It uses its own clock, and lets a log end with the config, whatever still counts.
  if (before.config) toldToEnd.add(ownerFor(before.config, client));
  // One of its faults: it fails on an empty log.
  await server.scripts.take([config, value, ownValue, log, ownLog], args).catch((error) => {
    if (!/nil|initialized|exceed/.test(error.message)) throw error;
  });
};

/** By hand, and only where there is something to change. */
const ends: Action<'by hand: expire'> = ({ server, us }, { ms }) =>
  server.redis.pexpireat(key, Math.floor(us / 1000) + ms);

const rate: Action<'by hand: rate'> = async ({ server, before }, step) => {
  if (before.config) await server.redis.hset(key, 'rate', step.rate);
};

const loseValue: Action<'by hand: lose value'> = ({ server }, { client }) =>
  server.redis.del(keysOf[client].original[1], keysOf[client].original[3]);

const actions: { readonly [What in Others]: Action<What> } = {
  expire,
  delete: remove,
  jvm,
  'by hand: persist': ({ server }) => server.redis.persist(key),
  'by hand: expire': ends,
  'by hand: rate': rate,
  'by hand: lose value': loseValue,
};

export async function doOther(world: World, step: StepOf<Others>): Promise<void> {
  world.calls++;
  await (actions[step.what] as (world: World, step: StepOf<Others>) => Promise<unknown>)(world, step);
}
