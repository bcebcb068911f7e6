// Processes that are blocked, or cancel a hundred thousand requests.
import * as assert from 'uvu/assert';
import { assertFullRate, assertNeverOver, end, rest, start } from '../processes/fleet.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { until } from '../support/until.ts';

const test = redisSuite('processes under strain');

test('an event loop blocked for 2 s: the rest of the fleet has the whole limit within one interval', async (context) => {
  const child = await start(context, 'block');
  const load = rest(context);
  await until('both are granted', async () => load.requests.permits.length > 20 && child.grants.length > 20);
  child.begin();
  await until('the loop stands still', async () => child.begun !== undefined);
  await assertFullRate(context, load, child.begun!);
  await until('the loop runs again', async () => child.done !== undefined);
  const { length } = child.grants;
  await until('it is granted again', async () => child.grants.length > length + 20);
  await end(load);
  assertNeverOver(load, child);
});

test('100,000 subscriptions that end in random order: leave nothing behind, and the whole limit to the rest', async (context) => {
  const child = await start(context, 'storm');
  const load = rest(context);
  child.begin();
  await until('the storm is over', async () => child.done !== undefined, { within: 60_000 });
  const { at, queued, reserved } = child.done!;
  assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
  await assertFullRate(context, load, at);
  await end(load);
  assertNeverOver(load, child);
});

test.run();
