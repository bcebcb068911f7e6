import type { Redis } from 'ioredis';
import { checkOurs, checkTick } from './checks.ts';
import { doOther } from './others.ts';
import { doOurs, isOurs } from './ours.ts';
import { interval, type Life, type Step } from './steps.ts';
import { keysOf, VirtualRedis } from './virtualRedis.ts';
import type { World } from './world.ts';

/** Epoch microseconds in 2049: keys that expire then do not expire by the server's own clock. */
const epoch = 2_500_000_000_000_000;

async function doStep(world: World, step: Step): Promise<void> {
  const { server } = world;
  if (isOurs(step)) {
    const expected = await doOurs(world, step);
    const after = await server.snapshot();
    if (expected) checkOurs(world, after, step.client, expected);
    world.before = after;
  } else if (step.what === 'tick') {
    world.us += step.us;
    await server.setTime(world.us);
    const after = await server.snapshot();
    checkTick(world, after);
    world.before = after;
  } else {
    await doOther(world, step);
    world.before = await server.snapshot();
  }
}

/** Runs a life from its first rate on, and checks the keys after each step. */
export async function replay(redis: Redis, { start, first, steps }: Life): Promise<void> {
  const server = new VirtualRedis(redis);
  const us = epoch + start;
  await server.start(us);
  const { rate, perClient, keepAlive } = first;
  await server.scripts.setRate(keysOf.a.all, ['new', rate, interval, Number(perClient), keepAlive, 0]);
  const before = await server.snapshot();
  const world: World = {
    server,
    us,
    before,
    toldToEnd: new Set(),
    granted: { a: [], b: [] },
    calls: 0,
    refunds: 0,
  };
  for (const [place, step] of steps.entries())
    await doStep(world, step).catch((error) => {
      const at = world.us - epoch;
      throw new Error(`step ${place}, at ${at} us, ${JSON.stringify(step)}: ${error.message}`, {
        cause: error,
      });
    });
}
