import assert from 'node:assert/strict';
import type { Redis } from 'ioredis';
import type { Limit } from '../../src/limits/limit.ts';
import { specOf } from '../../src/stores/redis/spec.ts';
import type { DecideReply, Rate, ReserveReply } from '../../src/stores/store.ts';
import type { Call, CallReply } from '../properties/calls.ts';
import { plan, settle } from '../properties/plan.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import { changedIn } from '../properties/steered.ts';
import type { History } from '../properties/steps.ts';
import { createWorld } from '../properties/world.ts';
import { met } from './meetings.ts';
import { memoryTwin, type Outcome } from './memoryTwin.ts';
import { withoutPast } from './picture.ts';
import { mustBeQuick, type Stored } from './quickCalls.ts';
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
  let known: Outcome | undefined;
  /** The ledgers in Redis, of the fleet or of each client. */
  const ledgers = new Map<number, Stored | undefined>();
  for (const step of history.steps) {
    const call = plan(world, known ? met(step, known, world.serverUs) : step);
    if (!call) continue;
    // Nothing is left to be sent again, since one store may have forgotten the sequence.
    if (step.kind === 'resend' && call.kind === 'refund' && call.refunds.length === 0) continue;
    // In the year 2255, microseconds cease to be exact.
    if (call.serverUs >= 2 ** 53) break;
    const config = configs[Math.floor(call.client / clientsOfVersion)];
    const expected = inMemory(config, call);
    known = expected;
    settle(world, call, expected.reply, changedIn(expected.state));
    const { wasQuick, calm, ...actual } = await inRedis(config, call);
    if (call.kind === 'reserve' || call.kind === 'decide') tally.calls++;
    if (wasQuick) tally.quick++;
    const whose = scope === 'client' ? call.client : 0;
    const spec = expected.control.spec || specOf(config.names, config.limits);
    const before = ledgers.get(whose);
    const isQuick =
      way === 'quick' && mustBeQuick(call, expected.reply, spec, before, expected.control, scope);
    assert.ok(wasQuick || !isQuick, `the fast path does not serve ${JSON.stringify(call)}`);
    ledgers.set(whose, actual.state && { ...actual.state, calm });
    assertSame(actual, expected, call);
  }
  return tally;
}

/** Makes the calls in Redis and in memory, and compares every reply and the states after it. Returns the replies. */
export async function sameReplies(
  redis: Redis,
  config: Config,
  calls: readonly Call[],
): Promise<CallReply[]> {
  const replies: CallReply[] = [];
  const inMemory = memoryTwin('fleet');
  const inRedis = redisTwin(redis, 'fleet');
  await redis.flushall();
  for (const call of calls) {
    const expected = inMemory(config, call);
    const { wasQuick, calm, ...actual } = await inRedis(config, call);
    assertSame(actual, expected, call);
    replies.push(expected.reply);
  }
  return replies;
}

/** Fails unless the outcome in Redis is that in memory. */
function assertSame(actual: Outcome, expected: Outcome, call: Call): void {
  const inRedis = comparable(actual);
  const inMemory = comparable(expected);
  inMemory.times = inMemory.times.map((us, i) => (areClose(us, inRedis.times[i]) ? inRedis.times[i] : us));
  assert.deepEqual(inRedis, inMemory, `after ${JSON.stringify(call)}`);
}

function comparable({ reply, state, ...known }: Outcome) {
  return { ...known, state: state && withoutPast(state), ...comparableReply(reply) };
}

/** A reply, and its times in microseconds, with two for each request of a reserve: segments may be divided differently. */
function comparableReply(reply: CallReply): { reply: unknown; times: number[] } {
  if (typeof reply !== 'object' || Array.isArray(reply)) return { reply, times: [] };
  if ('stored' in reply) return { reply: comparableRate(reply), times: [] };
  if ('granted' in reply) {
    const { retryAfter, resetAfter, ...decision }: DecideReply = reply;
    return { reply: decision, times: [retryAfter, resetAfter].map(microseconds) };
  }
  // If only one twin remembers a sequence, a resent refund restored nothing in the other.
  if (!('segments' in reply))
    return { reply: { restored: reply.restored?.includes(true) ? reply.restored : [] }, times: [] };
  const { segments, retryAfter: turn = 0, ...rest }: ReserveReply = reply;
  const requests = segments.flatMap(({ count, delay, retryAfter }) =>
    Array.from({ length: count }, () => [delay, retryAfter]),
  );
  return { reply: rest, times: [turn, ...requests.flat()].map(microseconds) };
}

function comparableRate({ limits, stored }: Rate): unknown {
  return { stored, limits: limits.map((limit) => ({ ...limit })) };
}

/** A script replies up to 2^62. */
function microseconds(ms: number): number {
  return Math.min(Math.round(ms * 1000), 2 ** 62);
}

/** Whether two times are the same, or decades that are: in milliseconds, these have few places after the point. */
function areClose(a: number, b: number): boolean {
  return a === b || (a >= 2 ** 50 && Math.abs(a - b) <= 1 + a * 2 ** -50);
}
