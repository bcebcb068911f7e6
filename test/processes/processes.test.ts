import * as assert from 'uvu/assert';
import { LimiterClosedError, RateLimiter } from '../../src/index.ts';
import { assertValid, recordedLimiter } from '../faults/histories.ts';
import { Requests, standing } from '../faults/requests.ts';
import { overSliding } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { lostTime } from '../support/lostTime.ts';
import { until } from '../support/until.ts';
import { assertFullRate, assertNeverOver, end, rest, start } from './fleet.ts';
import { day, spec } from './protocol.ts';

const test = redisSuite('processes that end');

/** Milliseconds until nothing of the daily limit is granted or reserved. */
async function resetAfter({ connect }: OnRedis): Promise<number> {
  const limiter = new RateLimiter({ name: 'day', limit: limitOf(day), redis: connect() });
  const { resetAfter } = await limiter.decide();
  await limiter.close();
  return resetAfter;
}

test('SIGKILL: its reservations stay, and the rest of the fleet has the whole limit within one interval', async (context) => {
  const child = await start(context, 'load');
  const load = rest(context);
  await until('both are granted', async () => load.requests.permits.length > 20 && child.grants.length > 20);
  child.signal('SIGKILL');
  const killed = Date.now();
  assert.ok((await resetAfter(context)) > day.interval, 'what it had reserved stays until its time');
  await assertFullRate(context, load, killed);
  await end(load);
  assertNeverOver(load, child);
});

test('SIGTERM twice while requests wait: close() ends the process, and refunds its reservations', async (context) => {
  const child = await start(context, 'close');
  const load = rest(context);
  await until('both are granted', async () => load.requests.permits.length > 20 && child.grants.length > 20);
  assert.ok((await resetAfter(context)) > day.interval, 'a permit of tomorrow is reserved');
  child.signal('SIGTERM');
  // The second arrives while it closes. Sent before, it might be merged with the first.
  await until('it closes', async () => child.begun !== undefined, { every: 1 });
  child.signal('SIGTERM');
  assert.is(await child.ended(), 0);
  assert.ok((await resetAfter(context)) <= day.interval, 'what it had reserved is given back');
  const { at, queued, reserved } = child.done!;
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  await assertFullRate(context, load, at);
  await end(load);
  assertNeverOver(load, child);
});

test('10,000 requests at close(): rejects each, refunds the reservations, and leaves the whole limit to the rest', async (context) => {
  const load = rest(context);
  const closing = recordedLimiter('processes', spec, context.connect());
  const requests = new Requests(closing);
  requests.askMany(10_000);
  await until('some are granted', async () => requests.permits.length > 20);
  const granted = requests.permits.length;
  const lost = lostTime();
  const since = performance.now();
  await closing.close();
  const lasted = performance.now() - since;
  assert.ok(lasted < 1_500 + lost(), `closing took ${lasted} ms`);
  await requests.allEnded();
  const errors = requests.errors;
  assert.ok(errors.length >= 10_000 - granted - spec.permits);
  for (const error of errors) assert.instance(error, LimiterClosedError);
  const { queued, reserved } = closing.stats();
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  await assertFullRate(context, load, Date.now());
  await end(load);
  assertValid([load.requests, requests]);
  assert.is(
    overSliding(spec, [...standing(load.requests.permits), ...standing(requests.permits)]),
    undefined,
  );
});

test.run();
