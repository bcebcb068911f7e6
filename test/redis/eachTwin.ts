import { Redis } from 'ioredis';
import { suite } from 'uvu';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import { aboutIoredis, type Tests } from '../support/anyClient.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { memoryTwin } from './memoryTwin.ts';
import { redisTwin } from './redisTwin.ts';
import { fleetOf, type TimedFleet } from './timedFleet.ts';
import type { Scope } from './twins.ts';

interface Twin {
  /** Clients of a new limit. */
  fleet(spec: LimitSpec, scope?: Scope): Promise<TimedFleet>;
}

/** Runs the same tests with the memory ledger and the scripts, for numbers that a comparison of the two does not check. */
export function inEachTwin(title: string, tests: (test: Tests, twin: Twin) => void): void {
  for (const where of ['memory', 'Redis'] as const) {
    const test = suite(`${title}, ${where}`);
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
    tests(aboutIoredis(test, 'each call is made in a transaction of ioredis'), {
      async fleet(spec, scope = 'fleet') {
        await redis.flushall();
        const config = { names: [''], limits: [limitOf(spec)] };
        return fleetOf(where === 'memory' ? memoryTwin(scope) : redisTwin(redis, scope), config);
      },
    });
    test.run();
  }
}
