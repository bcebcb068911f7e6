import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { fillLog, interval, longLedger, newest } from './longLog.ts';

const test = redisSuite('a log that is too long');

test('grants nothing, until reset() empties it', async ({ redis }) => {
  const entries = 20_000;
  await fillLog(redis, entries, entries);
  const { ledger, at } = longLedger(redis, entries);
  // Half of the log has expired, and the other half leaves room for half of the limit.
  at.us = (newest - entries / 2 + interval) * 1_000;
  const runs = [{ count: 1, cost: [0.75 * entries], maxWait: Infinity }];
  const refused = await new Promise((resolve) =>
    ledger.reserve({ runs, horizon: 1, held: 0, epoch: 0 }, (error, reply) => resolve(error ?? reply)),
  );
  assert.instance(refused, StoreError);
  assert.match((refused as Error).message, 'reset() deletes it');
  await new Promise((resolve) => ledger.forget({ rate: false }, resolve));
  const available = await new Promise((resolve) => ledger.peek((error, reply) => resolve(error ?? reply)));
  assert.equal(available, [entries]);
});

test.run();
