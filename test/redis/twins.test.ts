import type fc from 'fast-check';
import { Redis } from 'ioredis';
import { test } from 'uvu';
import { histories, historiesOf } from '../properties/history.ts';
import { scaled } from '../properties/scaled.ts';
import * as specs from '../properties/specs.ts';
import type { History, Step } from '../properties/steps.ts';
import { promise } from '../support/campaign.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { changing, longLogs, steered, steeredBuckets, thousandsOfEntries } from './twinHistories.ts';
import { sameInBoth } from './twins.ts';

let server: RedisServer;
let redis: Redis;
test.before(async () => {
  server = await startRedis();
  redis = new Redis(server.port, { protocol: 2 });
});
test.after(async () => {
  redis.disconnect();
  await server.stop();
});

const namesOf = ({ limits }: History) => (limits.length === 1 ? [''] : limits.map((_, i) => `limit ${i}`));

function same(title: string, runs: number, values: fc.Arbitrary<History>): void {
  promise(title, runs, values, (history) =>
    sameInBoth(redis, history, [{ names: namesOf(history), limits: history.limits }]),
  );
}

const one = (limit: fc.Arbitrary<specs.LimitSpec>) => scaled(historiesOf(limit));

same('a sliding window is the same in Lua and in TypeScript', 150, one(specs.exactSlidingWindows));
same('a sliding window of slots is the same in Lua and in TypeScript', 150, one(specs.coarseSlidingWindows));
same('a fixed window is the same in Lua and in TypeScript', 150, one(specs.fixedWindows('first')));
same(
  'a fixed window on the clock is the same in Lua and in TypeScript',
  100,
  one(specs.fixedWindows('epoch')),
);
same('a token bucket is the same in Lua and in TypeScript', 150, one(specs.tokenBuckets));
same(
  'up to three limits together are the same in Lua and in TypeScript',
  200,
  scaled(histories(specs.fewLimits)),
);
same('a log of many entries is the same in Lua and in TypeScript', 80, longLogs);

promise(
  'limits that change, and change their names, are the same in Lua and in TypeScript',
  500,
  changing,
  ({ history, versions }) => sameInBoth(redis, history, versions),
);

for (const scope of ['fleet', 'client'] as const)
  promise(
    `stored rates, pauses, releases and resets are the same in Lua and in TypeScript, for each ${scope}`,
    200,
    steered,
    ({ history, versions }) => sameInBoth(redis, history, versions, scope),
  );

promise(
  'one bucket after another is the same in Lua and in TypeScript, with its stored rates',
  200,
  steeredBuckets,
  ({ history, versions }) => sameInBoth(redis, history, versions),
);

test('what is remembered of a pause that was lifted goes with it in both', async () => {
  const { limits } = thousandsOfEntries();
  const forget: Step = { kind: 'forget', client: 0, rate: false };
  const pause: Step = { kind: 'pause', client: 0, ms: 1000 };
  const steps = [pause, forget, { kind: 'advance', us: 5_000_000 } as const, forget, forget];
  const history = { startUs: 0, limits, steps };
  await sameInBoth(redis, history, [{ names: namesOf(history), limits }]);
});

test('a log of which one call forgets a single entry is the same in Lua and in TypeScript', async () => {
  const wait = (ms: number): Step => ({ kind: 'advance', us: ms * 1000 });
  const take: Step = { kind: 'decide', client: 0, cost: [1] };
  const peek: Step = { kind: 'peek', client: 1 };
  const limits = [{ kind: 'slidingWindow', permits: 5, interval: 1000, resolution: 1 } as const];
  const steps = [take, wait(10), take, wait(10), take, wait(985), peek, wait(8), peek, take];
  const history = { startUs: 1_000_000, limits, steps };
  await sameInBoth(redis, history, [{ names: namesOf(history), limits }]);
});

test('a log of thousands of entries is the same in Lua and in TypeScript', async () => {
  const history = thousandsOfEntries();
  await sameInBoth(redis, history, [{ names: namesOf(history), limits: history.limits }]);
});

test.run();
