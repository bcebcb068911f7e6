import { suite } from 'uvu';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import { aboutIoredis, type Tests } from '../support/anyClient.ts';
import { limitNames } from '../support/limitNames.ts';
import { sharedRedis } from '../support/sharedRedis.ts';
import { memoryTwin } from './memoryTwin.ts';
import { redisTwin } from './redisTwin.ts';
import { fleetOf, type TimedFleet } from './timedFleet.ts';
import type { Scope } from './twins.ts';

interface Twin {
  /** Clients of a new limit, or of a record of several ones. */
  fleet(specs: LimitSpec | readonly LimitSpec[], scope?: Scope): Promise<TimedFleet>;
}

/** Runs the same tests with the memory ledger and the scripts, for numbers that a comparison of the two does not check. */
export function inEachTwin(title: string, tests: (test: Tests, twin: Twin) => void): void {
  for (const where of ['memory', 'Redis'] as const) {
    const test = suite(`${title}, ${where}`);
    const shared = sharedRedis(test, { protocol: 2 });
    tests(aboutIoredis(test, 'each call is made in a transaction of ioredis'), {
      async fleet(specs, scope = 'fleet') {
        await shared.redis.flushall();
        const limits = [specs].flat().map(limitOf);
        const config = { names: limitNames(limits), limits };
        return fleetOf(where === 'memory' ? memoryTwin(scope) : redisTwin(shared.redis, scope), config);
      },
    });
    test.run();
  }
}
