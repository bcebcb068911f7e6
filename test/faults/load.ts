import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import * as assert from 'uvu/assert';
import type { RateLimiter } from '../../src/index.ts';
import type { PermitsAt } from '../properties/oracle.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { assertValid, type Disturbances } from './histories.ts';
import { Requests, rises } from './requests.ts';

type Sliding = Extract<LimitSpec, { kind: 'slidingWindow' }>;

/** Requests of one limiter, repeated by several workers until they are stopped. */
export class Load {
  readonly limiter: RateLimiter;
  readonly requests: Requests;
  readonly #redis: Redis | Cluster | undefined;
  readonly #listeners: number;
  readonly #workers: Promise<void>[];
  #stopped = false;

  /** With the connection, counts its listeners before the first call of the limiter. */
  constructor(limiter: RateLimiter, workers = 8, redis?: Redis | Cluster) {
    this.limiter = limiter;
    this.#redis = redis;
    this.#listeners = this.#listenersNow;
    this.requests = new Requests(limiter);
    this.#workers = Array.from({ length: workers }, () => this.#work());
  }

  /** Number of listeners of the connection. */
  get #listenersNow(): number {
    const redis = this.#redis;
    if (!redis) return 0;
    return ['ready', 'close', 'end', 'error'].reduce((sum, event) => sum + redis.listenerCount(event), 0);
  }

  /** Whether the limiter has left a listener on the connection. */
  get leavesListeners(): boolean {
    return this.#listenersNow > this.#listeners;
  }

  /** Makes no more requests, and waits until each has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.requests.allEnded();
    await Promise.all(this.#workers);
  }

  async #work(): Promise<void> {
    while (!this.#stopped) {
      const { permit } = await this.requests.ask();
      // A limiter that refuses at once would be called endlessly.
      if (!permit) await sleep(10, undefined, { ref: false });
    }
  }
}

/**
 * Stops all load, and asserts the invariants after every fault: each request has ended, grants came in the order of the
 * requests and not before their moment, no queue holds a request, each limiter closes and leaves no listener, and the history of
 * the recorded limiters is valid.
 */
export async function assertAllEnded(loads: readonly Load[], disturbances: Disturbances = {}): Promise<void> {
  await Promise.all(loads.map((load) => load.stop()));
  for (const load of loads) {
    const { requests, limiter } = load;
    const granted = requests.endings.filter(({ permit }) => permit);
    assert.ok(rises(granted.map(({ index }) => index)), 'granted in the order of the requests');
    for (const { receivedAt, permit } of granted)
      assert.ok(receivedAt >= permit!.grantedAt - 1, `granted ${permit!.grantedAt - receivedAt} ms early`);
    const { queued, reserved } = limiter.stats();
    assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
    await limiter.close();
    assert.not(load.leavesListeners, 'a listener is left');
  }
  assertValid(
    loads.map(({ requests }) => requests),
    disturbances,
  );
}

/**
 * Whether a window holds more permits than one limit, plus one limit for each loss of data during it or two intervals
 * before: a full window has its next reservations one interval ahead, and a loss does not void them.
 */
export function overWithLosses(
  { permits, interval }: Sliding,
  standing: readonly PermitsAt[],
  losses: readonly number[],
): string | undefined {
  for (const { t: from } of standing) {
    const till = from + interval;
    const sum = standing.reduce((total, { t, n }) => (t >= from && t < till ? total + n : total), 0);
    const lost = losses.filter((at) => at >= from - 2 * interval && at < till).length;
    if (sum > permits * (1 + lost))
      return `${sum} permits of ${permits} in [${from}, ${till}), with ${lost} losses of data`;
  }
  return undefined;
}
