import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { StoreError } from '../../src/index.ts';
import { limitOf } from '../properties/specs.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { until } from '../support/until.ts';
import { recordedLimiter } from './histories.ts';
import { assertAllEnded, Load, overWithLosses } from './load.ts';
import { standing } from './requests.ts';

const test = redisSuite('evicted keys');
// So many permits that the log has a key of its own.
const spec = { kind: 'slidingWindow', permits: 60, interval: 400, resolution: 1 } as const;

/** The keys that hold the grants. */
const forgets = /^\{sluice:evicted\}(:log:)?$/;

for (const policy of ['allkeys-lru', 'volatile-lru'])
  test(`${policy}: a limiter with evicted keys fails or forgets, and grants again`, async ({
    server,
    connect,
  }) => {
    await server.command('CONFIG', 'SET', 'notify-keyspace-events', 'Ee');
    const events = connect();
    const losses: number[] = [];
    events.on('message', (_, key: string) => forgets.test(key) && losses.push(Date.now()));
    await events.subscribe('__keyevent@0__:evicted');
    const loads = [1, 2].map(() => {
      const redis = connect({ maxRetriesPerRequest: null });
      return new Load(recordedLimiter('evicted', spec, redis));
    });
    const grants = () => loads.flatMap(({ requests }) => requests.permits);
    await until('grants come', async () => grants().length > 100);
    await server.command('CONFIG', 'SET', 'maxmemory-policy', policy);
    const filler = connect();
    // Keys that expire, which both policies may evict, the limiter's keys among them.
    for (let i = 0; losses.length < 12 && i < 400; i++) {
      const info = String(await server.command('INFO', 'memory'));
      const used = Number(/used_memory:(\d+)/.exec(info)?.[1]);
      await server.command('CONFIG', 'SET', 'maxmemory', used - 20_000);
      await filler.set('filler', 'x'.repeat(1_000), 'PX', 60_000).catch(() => {});
      await sleep(5);
    }
    await server.command('CONFIG', 'SET', 'maxmemory', 0);
    const before = grants().length;
    await until('grants go on', async () => grants().length > before + 250);
    await assertAllEnded(loads, { losses: 'sometime' });
    assert.ok(losses.length > 0, 'keys were evicted');
    for (const error of loads.flatMap(({ requests }) => requests.errors)) assert.instance(error, StoreError);
    assert.is(overWithLosses(spec, standing(grants()), losses), undefined);
  });

for (const end of ['', ':log:', ':contenders', ':control'])
  test(`the key {sluice:evicted}${end} deleted repeatedly: the limiter continues`, async ({
    server,
    connect,
  }) => {
    const loads = [1, 2].map(() => {
      const redis = connect({ maxRetriesPerRequest: null });
      return new Load(recordedLimiter('evicted', spec, redis), 40);
    });
    const grants = () => loads.flatMap(({ requests }) => requests.permits);
    const losses: number[] = [];
    for (let i = 0; i < 3; i++) {
      const before = grants().length;
      await until('grants go on', async () => grants().length > before + 40);
      if (end === ':control') await loads[0].limiter.trySetRate(limitOf(spec));
      await until(
        'the key is there',
        async () => Number(await server.command('DEL', `{sluice:evicted}${end}`)) > 0,
      );
      if (forgets.test(`{sluice:evicted}${end}`)) losses.push(Date.now());
    }
    const before = grants().length;
    await until('grants go on', async () => grants().length > before + 40);
    await assertAllEnded(loads, { losses: 'sometime' });
    for (const error of loads.flatMap(({ requests }) => requests.errors)) assert.instance(error, StoreError);
    assert.is(overWithLosses(spec, standing(grants()), losses), undefined);
  });

test.run();
