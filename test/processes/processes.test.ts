import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { LimiterClosedError, RateLimiter } from '../../src/index.ts';
import { Load } from '../faults/load.ts';
import { Requests, standing } from '../faults/requests.ts';
import { permitsWithin } from '../fleet/measures.ts';
import { overSliding } from '../properties/oracle.ts';
import { limitOf } from '../properties/specs.ts';
import { type OnRedis, redisSuite } from '../redis/redisSuite.ts';
import { lostTime } from '../support/lostTime.ts';
import { until } from '../support/until.ts';
import { Child } from './child.ts';
import { type Role, spec } from './protocol.ts';

const test = redisSuite('processes that end, stand still or change their minds');
const { permits, interval } = spec;

/** The rest of the fleet: a limiter of this process, with more requests than the limit serves. */
function rest({ connect }: OnRedis): Load {
  return new Load(new RateLimiter({ name: 'processes', limit: limitOf(spec), redis: connect() }), 60);
}

async function start({ server, afterwards }: OnRedis, role: Role): Promise<Child> {
  const child = await Child.start(server.port, role);
  afterwards(() => child.kill());
  return child;
}

/** From one interval after a moment on, for two intervals, the limit is used by the load alone, but for what the others still hold. */
async function assertFullRate(load: Load, since: number): Promise<void> {
  const lost = lostTime();
  const [from, till] = [since + interval, since + 3 * interval];
  await until('two intervals have passed', async () => Date.now() > till + 100);
  const used = permitsWithin(standing(load.requests.permits), from, till) / (2 * permits);
  // What this process could not run in time may have expired unused.
  const least = 0.9 - lost() / (2 * interval);
  assert.ok(used >= least, `${used.toFixed(3)} of the limit was used, expected ${least.toFixed(3)}`);
}

function assertNeverOver(load: Load, child: Child): void {
  const grants = [...standing(load.requests.permits), ...child.grants];
  assert.is(overSliding(spec, grants), undefined);
  for (const { t, heard } of child.grants) assert.ok(heard >= t - 1, `${t - heard} ms early`);
}

async function end(load: Load): Promise<void> {
  await load.stop();
  assert.equal(load.requests.errors, []);
  await load.limiter.close();
}

test('SIGKILL: the rest of the fleet has the whole limit within one interval', async (context) => {
  const child = await start(context, 'load');
  const load = rest(context);
  await until('both are granted', async () => load.requests.permits.length > 20 && child.grants.length > 20);
  child.signal('SIGKILL');
  const killed = Date.now();
  await assertFullRate(load, killed);
  await end(load);
  assertNeverOver(load, child);
});

test('SIGTERM twice while requests wait: close() ends the process, and gives back what it had reserved', async (context) => {
  const child = await start(context, 'close');
  const load = rest(context);
  await until('both are granted', async () => load.requests.permits.length > 20 && child.grants.length > 20);
  child.signal('SIGTERM');
  // The second arrives while the first is served.
  await sleep(2);
  child.signal('SIGTERM');
  assert.is(await child.ended(), 0);
  const { at, queued, reserved } = child.done!;
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  await assertFullRate(load, at);
  await end(load);
  assertNeverOver(load, child);
});

test('an event loop blocked for 2 s: the rest of the fleet has the whole limit within one interval', async (context) => {
  const child = await start(context, 'block');
  const load = rest(context);
  await until('both are granted', async () => load.requests.permits.length > 20 && child.grants.length > 20);
  child.begin();
  await until('the loop stands still', async () => child.begun !== undefined);
  await assertFullRate(load, child.begun!);
  await until('the loop runs again', async () => child.done !== undefined);
  const { length } = child.grants;
  await until('it is granted again', async () => child.grants.length > length + 20);
  await end(load);
  assertNeverOver(load, child);
});

test('100,000 subscriptions that end in random order: nothing is left of them, and the rest has the whole limit', async (context) => {
  const child = await start(context, 'storm');
  const load = rest(context);
  child.begin();
  await until('the storm is over', async () => child.done !== undefined, { within: 60_000 });
  // Its 16 workers go on, and have their share.
  assert.ok(child.done!.queued + child.done!.reserved <= 16, 'requests are left');
  await child.kill();
  await assertFullRate(load, Date.now());
  await end(load);
  assertNeverOver(load, child);
});

test('10,000 requests at close(): each is rejected, what was reserved is given back, and the rest has the whole limit', async (context) => {
  const load = rest(context);
  const closing = new RateLimiter({ name: 'processes', limit: limitOf(spec), redis: context.connect() });
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
  assert.ok(errors.length >= 10_000 - granted - permits);
  for (const error of errors) assert.instance(error, LimiterClosedError);
  const { queued, reserved } = closing.stats();
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  await assertFullRate(load, Date.now());
  await end(load);
  assert.is(
    overSliding(spec, [...standing(load.requests.permits), ...standing(requests.permits)]),
    undefined,
  );
});

test.run();
