// A master killed under load: sentinels take seconds to promote its replica.
import { Redis } from 'ioredis';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/index.ts';
import { recordedLimiter } from '../faults/histories.ts';
import { assertAllEnded, Load, overWithLosses } from '../faults/load.ts';
import { standing } from '../faults/requests.ts';
import { startSentinels } from '../support/redisSentinel.ts';
import { until } from '../support/until.ts';

const spec = { kind: 'slidingWindow', permits: 40, interval: 400, resolution: 1 } as const;

test('a master killed and its replica promoted by Sentinel under load: at most one more limit, in order, none hangs', async () => {
  const trio = await startSentinels();
  const open = (fallback?: 'reject') => {
    const redis = new Redis({
      sentinels: trio.addresses,
      name: trio.name,
      maxRetriesPerRequest: null,
      sentinelRetryStrategy: () => 50,
      retryStrategy: () => 50,
    });
    redis.on('error', () => {});
    return {
      redis,
      load: new Load(recordedLimiter('promoted', spec, redis, { fallback })),
    };
  };
  const all = [open(), open(), open('reject')];
  const loads = all.map(({ load }) => load);
  const grants = () => loads.flatMap(({ requests }) => requests.permits);
  try {
    await until('grants come', async () => loads.every(({ requests }) => requests.permits.length > 40));
    const old = await trio.master();
    await old.kill();
    const lost = Date.now();
    await trio.masterAfter(old);
    const before = loads.map(({ requests }) => requests.permits.length);
    await until('each is granted by the new master', async () =>
      loads.every(({ requests }, i) => requests.permits.length > before[i] + 40),
    );
    await assertAllEnded(loads, { losses: [lost], faults: [[lost, Date.now()]] });
    const [, , rejecting] = loads;
    assert.ok(rejecting.requests.errors.length > 0);
    for (const { requests } of loads)
      for (const error of requests.errors) assert.instance(error, StoreUnavailableError);
    assert.is(overWithLosses(spec, standing(grants()), [lost]), undefined);
  } finally {
    for (const { redis } of all) redis.disconnect();
    await trio.stop();
  }
});

test.run();
