import * as assert from 'uvu/assert';
import { assertValid, recordedLimiter } from '../faults/histories.ts';
import { Load } from '../faults/load.ts';
import { standing } from '../faults/requests.ts';
import { permitsWithin } from '../fleet/measures.ts';
import { overSliding } from '../properties/oracle.ts';
import type { OnRedis } from '../redis/redisSuite.ts';
import { lostTime } from '../support/lostTime.ts';
import { until } from '../support/until.ts';
import { Child } from './child.ts';
import { type Role, spec } from './protocol.ts';

const { permits, interval } = spec;

/** The rest of the fleet: a limiter of this process, with more requests than the limit can grant. */
export function rest({ connect }: OnRedis): Load {
  return new Load(recordedLimiter('processes', spec, connect()), 60);
}

export async function start({ server, afterwards }: OnRedis, role: Role): Promise<Child> {
  const child = await Child.start(server.port, role);
  afterwards(() => child.kill());
  return child;
}

/**
 * From one interval after a moment on, for two intervals, the load alone uses the limit, apart from the reservations of
 * the others.
 */
export async function assertFullRate({ redis }: OnRedis, load: Load, since: number): Promise<void> {
  const lost = lostTime(() => redis.ping());
  const [from, till] = [since + interval, since + 3 * interval];
  await until('two intervals have passed', async () => Date.now() > till + 100);
  const used = permitsWithin(standing(load.requests.permits), from, till) / (2 * permits);
  // Permits may have expired unused while this process or the server could not run.
  const least = 0.9 - lost() / (2 * interval);
  assert.ok(used >= least, `${used.toFixed(3)} of the limit was used, expected ${least.toFixed(3)}`);
}

/** Asserts the limit by the reports of the child, and every rule of `test/history` by its history. */
export function assertNeverOver(load: Load, child: Child): void {
  assertValid([load.requests], { folder: child.folder });
  const grants = [...standing(load.requests.permits), ...child.grants];
  assert.is(overSliding(spec, grants), undefined);
  for (const { t, receivedAt } of child.grants) assert.ok(receivedAt >= t - 1, `${t - receivedAt} ms early`);
}

export async function end(load: Load): Promise<void> {
  await load.stop();
  assert.equal(load.requests.errors, []);
  await load.limiter.close();
}
