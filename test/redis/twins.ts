import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import type { Limit } from '../../src/limits/limit.ts';
import type { DecideReply, Rate, ReserveReply } from '../../src/stores/store.ts';
import type { CallReply } from '../properties/calls.ts';
import { plan, settle } from '../properties/plan.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import type { History } from '../properties/steps.ts';
import { createWorld } from '../properties/world.ts';
import { memoryTwin, type Outcome } from './memoryTwin.ts';
import { withoutPast } from './picture.ts';
import { type Path, redisTwin } from './redisTwin.ts';

/** The limits of a limiter, with their names. */
export interface Config {
  names: readonly string[];
  limits: readonly Limit[];
}

/** The same as plain data. */
export interface Version {
  names: readonly string[];
  limits: readonly LimitSpec[];
}

/** Whether clients share a ledger or have one each. */
export type Scope = 'fleet' | 'client';

/** The number of clients of each version of a program. */
export const clientsOfVersion = 3;

/** The calls that could take the fast path, and the calls that did. */
export interface Tally {
  calls: number;
  quick: number;
}

/** Replays a history in Redis and in memory at the same times, and compares every reply and the states after it. */
export async function sameInBoth(
  redis: Redis,
  history: History,
  versions: readonly Version[],
  scope: Scope = 'fleet',
  way: Path = 'quick',
): Promise<Tally> {
  const configs = versions.map(({ names, limits }): Config => ({ names, limits: limits.map(limitOf) }));
  // The server's time must not be near zero, which means "never" in the scripts.
  const world = createWorld({ ...history, startUs: history.startUs + 1e12 });
  const inMemory = memoryTwin(scope);
  const inRedis = redisTwin(redis, scope, way);
  const tally = { calls: 0, quick: 0 };
  await redis.flushall();
  for (const step of history.steps) {
    const call = plan(world, step);
    if (!call) continue;
    const config = configs[Math.floor(call.client / clientsOfVersion)];
    const expected = inMemory(config, call);
    settle(world, call, expected.reply);
    const { wasQuick, ...actual } = await inRedis(config, call);
    if (call.kind === 'reserve' || call.kind === 'decide') tally.calls++;
    if (wasQuick) tally.quick++;
    assert.deepEqual(comparable(actual), comparable(expected), `after ${JSON.stringify(call)}`);
  }
  return tally;
}

function comparable({ reply, state, ...known }: Outcome): unknown {
  return { ...known, state: state && withoutPast(state), reply: comparableReply(reply) };
}

/** A reply in whole microseconds, with one entry for each request of a reserve: segments may be divided differently. */
function comparableReply(reply: CallReply): unknown {
  if (typeof reply !== 'object' || Array.isArray(reply)) return reply;
  if ('stored' in reply) return comparableRate(reply);
  if ('granted' in reply) {
    const { retryAfter, resetAfter, ...decision }: DecideReply = reply;
    return { ...decision, retryAfter: microseconds(retryAfter), resetAfter: microseconds(resetAfter) };
  }
  // If only one twin remembers a sequence, a resent refund restored nothing in the other.
  if (!('segments' in reply)) return { restored: reply.restored?.includes(true) ? reply.restored : [] };
  const { segments, ...rest }: ReserveReply = reply;
  const requests = segments.flatMap(({ count, delay, retryAfter }) =>
    Array.from({ length: count }, () => [microseconds(delay), microseconds(retryAfter)]),
  );
  return { ...rest, requests };
}

function comparableRate({ limits, stored }: Rate): unknown {
  return { stored, limits: limits.map((limit) => ({ ...limit })) };
}

function microseconds(ms: number): number {
  return Math.round(ms * 1000);
}
