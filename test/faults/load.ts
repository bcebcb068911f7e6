import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import type { RateLimiter } from '../../src/index.ts';
import type { Standing } from '../properties/oracle.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { Requests, rises } from './requests.ts';

type Sliding = Extract<LimitSpec, { kind: 'slidingWindow' }>;

/** Requests of one limiter that are made again and again, by several workers, until they are stopped. */
export class Load {
  readonly limiter: RateLimiter;
  readonly requests: Requests;
  readonly #workers: Promise<void>[];
  #stopped = false;

  constructor(limiter: RateLimiter, workers = 8) {
    this.limiter = limiter;
    this.requests = new Requests(limiter);
    this.#workers = Array.from({ length: workers }, () => this.#work());
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
      // A limiter that refuses at once would be asked without end.
      if (!permit) await sleep(10);
    }
  }
}

/**
 * Stops all load, and asserts what holds after every fault: each request has ended, the granted ones in the order in which
 * they were made, nothing is left in a queue, and each limiter closes.
 */
export async function assertAllEnded(loads: readonly Load[]): Promise<void> {
  await Promise.all(loads.map((load) => load.stop()));
  for (const { requests, limiter } of loads) {
    const granted = requests.endings.filter(({ permit }) => permit);
    assert.ok(rises(granted.map(({ index }) => index)), 'granted in the order of the requests');
    for (const { heard, permit } of granted)
      assert.ok(heard >= permit!.grantedAt - 1, `granted ${permit!.grantedAt - heard} ms early`);
    const { queued, reserved } = limiter.stats();
    assert.equal({ queued, reserved }, { queued: 0, reserved: 0 });
    await limiter.close();
  }
}

/** Whether a window holds more permits than one limit's worth, and one more for each loss of data during it or one interval before. */
export function overWithLosses(
  { permits, interval }: Sliding,
  standing: readonly Standing[],
  losses: readonly number[],
): string | undefined {
  for (const { t: from } of standing) {
    const till = from + interval;
    const sum = standing.reduce((total, { t, n }) => (t >= from && t < till ? total + n : total), 0);
    const lost = losses.filter((at) => at >= from - interval && at < till).length;
    if (sum > permits * (1 + lost))
      return `${sum} permits of ${permits} in [${from}, ${till}), with ${lost} losses of data`;
  }
  return undefined;
}
