import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { slidingWindow } from '../../src/index.ts';
import { ledgerOf } from './ledgers.ts';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('stretched');

test('a log lives as long as a longer interval needs it, even if nothing is added to it', async ({
  redis,
}) => {
  const [minute, hour] = [60_000, 3_600_000];
  const short = ledgerOf(redis, { '': slidingWindow({ permits: 14, interval: minute, resolution: 1 }) });
  for (let i = 0; i < 12; i++) {
    await short.reserve([1]);
    // The next grant has an entry of its own: entries that do not fit into the ledger's string go into the list.
    await sleep(2);
  }
  assert.ok((await redis.pttl('{p:n}:log:')) <= 2 * minute);
  const long = ledgerOf(redis, { '': slidingWindow({ permits: 14, interval: hour, resolution: 1 }) });
  assert.equal(await long.peek(), [2]);
  assert.ok((await redis.pttl('{p:n}:log:')) > hour - minute);
});

test.run();
