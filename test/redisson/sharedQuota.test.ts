import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { overSliding, type Standing } from '../properties/oracle.ts';
import { watchGrants } from './grants.ts';
import { type Client, redissonSuite } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('shared quota');

const permits = 40;
const interval = 600;
const lasts = 3_000;
const callers = 10;

/** So many callers who acquire again and again, until they are to stop; answers how many permits they got. */
async function eat(from: Pick<Client, 'acquire'>, hungry: () => boolean): Promise<number> {
  let eaten = 0;
  const caller = async () => {
    for (; hungry(); eaten++) await from.acquire();
  };
  // Those who wait at the end are refused by the close of ours, or the end of the stand-in.
  await Promise.allSettled(Array.from({ length: callers }, caller));
  return eaten;
}

test('a JVM client and ours, both always hungry, share one limit and are never over it', async ({
  jvm,
  ours,
  redis,
}) => {
  const client = jvm();
  const limiter = ours();
  await client.setRate(RateType.OVERALL, permits, interval);
  const { grants, stop } = await watchGrants(redis);

  let hungry = true;
  const eaten = [client, limiter].map((from) => eat(from, () => hungry));
  await sleep(lasts);
  hungry = false;
  client.end();
  await limiter.close();
  const [byJvm, byOurs] = await Promise.all(eaten);
  const { value, used } = await stateOf(redis);
  await stop();

  // A JVM client dates a grant at the moment it asks, by its clock; what it dates too early, others may take too early.
  const clockError = Math.ceil(Math.max(...grants.map(({ t, at }) => t - at)));
  console.log(
    `shared quota: ${byJvm} by the JVM client, ${byOurs} by ours, at a clock error of ${clockError} ms`,
  );
  assert.is(
    over(
      grants.map(({ t, n }) => ({ t: Math.floor(t), n })),
      interval - clockError,
    ),
    undefined,
  );
  const sum = grants.reduce((sum, { n }) => sum + n, 0);
  // What was on its way at the end was written, and perhaps given back.
  assert.ok(sum >= byJvm + byOurs && sum <= byJvm + byOurs + callers, `${sum} are written`);
  assert.ok(byJvm >= permits / 4 && byOurs >= permits / 4, `${byJvm} and ${byOurs}`);
  assert.ok(byJvm + byOurs >= (0.8 * permits * lasts) / interval, `${byJvm} and ${byOurs}`);
  assert.is(value, permits - used);
});

test('three of ours, always hungry, use all of one limit and are never over it', async ({ ours, redis }) => {
  const limiters = [ours(), ours(), ours()];
  await limiters[0].setRate(RateType.OVERALL, permits, interval / 2);
  const { grants, stop } = await watchGrants(redis);
  let hungry = true;
  const eaten = limiters.map((from) => eat(from, () => hungry));
  await sleep(lasts / 2);
  hungry = false;
  await Promise.all(limiters.map((limiter) => limiter.close()));
  const shares = await Promise.all(eaten);
  await stop();
  // They date their grants by the server's clock.
  assert.is(
    over(
      grants.map(({ at, n }) => ({ t: at, n })),
      interval / 2,
    ),
    undefined,
  );
  assert.ok(grants.every(({ t, at }) => at < t + 1));
  const sum = shares.reduce((a, b) => a + b);
  assert.ok(sum >= (0.8 * permits * lasts) / interval, `${shares}`);
  for (const share of shares) assert.ok(share > sum / 10, `${shares}`);
});

/** Whether there is a window so long in which more was granted. */
function over(grants: readonly Standing[], window: number): string | undefined {
  return overSliding({ kind: 'slidingWindow', permits, interval: window, resolution: 1 }, grants);
}

test.run();
