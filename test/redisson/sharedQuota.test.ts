import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { overSliding, type PermitsAt } from '../properties/oracle.ts';
import { watchGrants } from './grants.ts';
import { type Client, redissonSuite } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('shared quota');

const permits = 40;
const interval = 600;
const lasts = 3_000;
const callers = 10;

/** The permits that a client has been granted. */
interface Share {
  permits: number;
}

/** Several callers that acquire repeatedly until they are stopped. */
async function eat(from: Pick<Client, 'acquire'>, share: Share, hungry: () => boolean): Promise<void> {
  const caller = async () => {
    for (; hungry(); share.permits++) await from.acquire();
  };
  // Requests waiting at the end fail when our limiter is closed, or the model ends.
  await Promise.allSettled(Array.from({ length: callers }, caller));
}

test('a saturated JVM client and a saturated client of ours share one limit and never exceed it', async ({
  jvm,
  ours,
  redis,
}) => {
  const client = jvm();
  const limiter = ours();
  await client.setRate(RateType.OVERALL, permits, interval);
  await limiter.getConfig();
  const { grants, stop } = await watchGrants(redis);

  let hungry = true;
  const shares = [client, limiter].map(() => ({ permits: 0 }));
  const eaten = [client, limiter].map((from, i) => eat(from, shares[i], () => hungry));
  await sleep(lasts);
  hungry = false;
  client.end();
  await limiter.close();
  await Promise.all(eaten);
  const [byJvm, byOurs] = shares.map((share) => share.permits);
  const { value, used } = await stateOf(redis);
  await stop();

  // A JVM client dates a grant at its request, by its clock; an early date lets others take the permit early.
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
  // Calls in flight at the end have been written, and perhaps refunded.
  assert.ok(sum >= byJvm + byOurs && sum <= byJvm + byOurs + callers, `${sum} are written`);
  assert.ok(byJvm >= permits / 4 && byOurs >= permits / 4, `${byJvm} and ${byOurs}`);
  assert.ok(byJvm + byOurs >= (0.8 * permits * lasts) / interval, `${byJvm} and ${byOurs}`);
  assert.is(value, permits - used);
});

test('three saturated clients of ours use all of one limit and never exceed it', async ({ ours, redis }) => {
  const limiters = [ours(), ours(), ours()];
  const window = interval / 2;
  await limiters[0].setRate(RateType.OVERALL, permits, window);
  for (const limiter of limiters) await limiter.getConfig();
  const { grants, stop } = await watchGrants(redis);
  const since = performance.now();
  const shares = limiters.map(() => ({ permits: 0 }));
  const eachHas = (least: number) => shares.every((share) => share.permits >= least);
  // The keys hold no order of the clients, so that chance decides which is first in a window: none is shut out for long.
  const hungry = () => {
    const passed = performance.now() - since;
    return passed < lasts / 2 || (passed < 5 * lasts && !eachHas(permits));
  };
  const eaten = limiters.map((from, i) => eat(from, shares[i], hungry));
  while (hungry()) await sleep(window);
  const windows = Math.floor((performance.now() - since) / window);
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await Promise.all(eaten);
  await stop();
  // They date their grants by the server's clock.
  assert.is(
    over(
      grants.map(({ at, n }) => ({ t: at, n })),
      window,
    ),
    undefined,
  );
  assert.ok(grants.every(({ t, at }) => at < t + 1));
  const each = shares.map((share) => share.permits);
  const sum = each.reduce((a, b) => a + b);
  assert.ok(sum >= 0.8 * permits * windows, `${each} in ${windows} windows`);
  assert.ok(eachHas(permits), `${each} in ${windows} windows`);
});

/** Whether some window of this length has more grants. */
function over(grants: readonly PermitsAt[], window: number): string | undefined {
  return overSliding({ kind: 'slidingWindow', permits, interval: window, resolution: 1 }, grants);
}

test.run();
