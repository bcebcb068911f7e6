import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import * as assert from 'uvu/assert';
import { StoreUnavailableError } from '../../src/index.ts';
import { redisSuite } from '../redis/redisSuite.ts';
import { aboutIoredis } from '../support/anyClient.ts';
import { until } from '../support/until.ts';
import { recordedLimiter } from './histories.ts';
import { assertAllEnded, Load, overWithLosses } from './load.ts';
import { standing } from './requests.ts';

const test = redisSuite('options of ioredis under faults');
const spec = { kind: 'slidingWindow', permits: 40, interval: 400, resolution: 1 } as const;

/** Milliseconds that a call may take where no request may be rejected, on a busy machine as well. */
const longest = 30_000;

/** Options, and whether requests may be rejected while the connection is down. */
const settings: [options: RedisOptions, rejects: boolean, storeTimeout?: number][] = [
  [{ maxRetriesPerRequest: null }, false],
  [{ maxRetriesPerRequest: null, enableAutoPipelining: true }, false],
  [{ maxRetriesPerRequest: null, keyPrefix: 'app:' }, false],
  [{ maxRetriesPerRequest: null, lazyConnect: true }, false],
  [{ maxRetriesPerRequest: null, protocol: 2 }, false],
  [{ enableOfflineQueue: false }, true],
  [{ maxRetriesPerRequest: 0 }, true],
  [{ maxRetriesPerRequest: null, commandTimeout: 100 }, true],
  [{ maxRetriesPerRequest: null, autoResendUnfulfilledCommands: false }, true],
];

for (const version of [6, 5])
  aboutIoredis(test, 'its options')(
    `ioredis ${version}: never exceeds the limit, keeps the order and ends every request under each option: flushed scripts, killed connections, a freeze and a restart`,
    async ({ server, connect, afterwards }) => {
      const connectWith =
        version === 6
          ? connect
          : (options: RedisOptions) => {
              const redis = new Redis5({
                port: server.port,
                retryStrategy: () => 20,
                ...(options as object),
              });
              redis.on('error', () => {});
              afterwards(() => redis.disconnect());
              return redis as never;
            };
      const all = settings.map(([options, rejects, storeTimeout = longest], i) => {
        const loads = [1, 2].map(() => {
          const redis = connectWith(options);
          return new Load(recordedLimiter(`options ${i}`, spec, redis, { storeTimeout }));
        });
        const granted = () => loads.flatMap(({ requests }) => requests.permits);
        return { title: JSON.stringify(options), rejects, loads, granted };
      });

      async function granting(): Promise<void> {
        const before = all.map(({ granted }) => granted().length);
        for (const [i, { title, granted }] of all.entries())
          await until(`${title} grants`, async () => granted().length > before[i] + 40);
      }

      await granting();
      const from = Date.now();
      await server.command('SCRIPT', 'FLUSH');
      await granting();
      await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await granting();
      server.freeze();
      await sleep(250);
      server.thaw();
      await granting();
      const lost = await server.restart();
      await granting();

      for (const { title, rejects, loads, granted } of all) {
        await assertAllEnded(loads, { losses: [lost], faults: [[from, Date.now()]] });
        assert.is(overWithLosses(spec, standing(granted()), [lost]), undefined, title);
        const errors = loads.flatMap(({ requests }) => requests.errors);
        if (!rejects) assert.equal(errors, [], title);
        for (const error of errors) assert.instance(error, StoreUnavailableError, title);
      }
    },
  );

test.run();
