// Fault 4: entries are counted without their permits.
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import type { JvmVersion } from '../support/jvmScripts.ts';
import { type OnRedisson, redissonSuite } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('weights');

const interval = 10_000;

/**
 * The client b has taken 1 of 10 an interval ago; then the rate was lowered to 5, and b has taken 4 more: its `value`
 * was 9 and is now 5.
 */
async function lowered(jvm: OnRedisson['jvm'], version: JvmVersion): Promise<void> {
  const other = jvm({ version });
  await other.setRate(RateType.PER_CLIENT, 10, interval);
  await jvm({ version, clientId: 'b', clockOffset: -interval }).acquire(1);
  await other.setRate(RateType.PER_CLIENT, 5, interval);
  await jvm({ version, clientId: 'b', clockOffset: -interval / 2 }).acquire(4);
}

test('the original: counts four permits in one entry as one', async ({ jvm, redis }) => {
  const version = '3.34.1';
  await lowered(jvm, version);
  assert.ok(await jvm({ version, clientId: 'b' }).tryAcquire(4));
  assert.is((await stateOf(redis, 'b')).used, 8);
});

test('ours: counts four permits in one entry as four', async ({ jvm, ours, redis }) => {
  await lowered(jvm, '3.34.1');
  const limiter = ours({ clientId: 'b' });
  assert.not(await limiter.tryAcquire(4));
  assert.ok(await limiter.tryAcquire(1));
  assert.is((await stateOf(redis, 'b')).used, 5);
});

test.run();
