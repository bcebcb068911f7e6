import type { Redis } from 'ioredis';
import { scriptsOf } from '../../src/stores/redis/scripts.ts';
import type { ControlledLedger, ReserveReply } from '../../src/stores/store.ts';
import { type Call, type CallReply, callLedger } from '../properties/calls.ts';
import type { PermitsAt } from '../properties/oracle.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import { openRedisLedger } from '../support/redisLedger.ts';

/** The limits of the calls. Their keys live longer than a test runs. */
export const sliding = { kind: 'slidingWindow', permits: 100, interval: 60_000, resolution: 1 } as const;
const limits: LimitSpec[] = [sliding, { kind: 'tokenBucket', permits: 200, interval: 60_000, burst: 200 }];
const names = ['log', 'tokens'];
const fewer: LimitSpec[] = [{ ...sliding, permits: 80 }, limits[1]];

/** A grant, with the epoch for its refund. */
interface RefundableGrant extends PermitsAt {
  epoch: number;
}

/** Pseudo-random calls of every kind, each at a time of its own, and the grants of the calls that succeeded. */
export class MixedCalls {
  readonly refusals: Error[] = [];
  #granted: RefundableGrant[] = [];
  #serverUs = 1e15;
  #sequence = 0;
  #random: number;

  readonly #single: boolean;

  /** With a `single` limit without a name, calls take the fast path where possible. */
  constructor(seed: number, { single = false } = {}) {
    this.#random = seed;
    this.#single = single;
  }

  /** The elements for the limits of the calls. */
  #fitting<T>(ofEach: readonly T[]): T[] {
    return ofEach.slice(0, this.#single ? 1 : 2);
  }

  /** The grants since the last reset that were not refunded. */
  get grants(): readonly PermitsAt[] {
    return this.#granted;
  }

  /** Ledgers of two clients of the limiter. */
  clients(redis: Redis, who: string): ControlledLedger[] {
    return [1, 2].map((n) =>
      openRedisLedger(
        {
          ...{ name: 'n', prefix: 'p', clientId: `${who} ${n}` },
          ...{ names: this.#single ? [''] : names, limits: this.#fitting(limits).map(limitOf) },
        },
        scriptsOf(redis),
        () => this.#serverUs,
      ),
    );
  }

  /** Makes `count` calls, one after another. */
  async make(count: number, clients: readonly ControlledLedger[]): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.#serverUs += this.#upTo(6) * 250_123;
      const client = this.#upTo(clients.length - 1);
      await this.#perform(clients[client], this.#draw(client));
    }
  }

  async #perform(ledger: ControlledLedger, call: Call): Promise<void> {
    // A client that refunds permits no longer uses them, whether or not the call succeeds.
    if (call.kind === 'refund')
      for (const { moment, cost } of call.refunds) this.#removeGrants(moment, cost[0]);
    await new Promise<void>((resolve) =>
      callLedger(ledger, call, (error, reply) => {
        if (error) this.refusals.push(error);
        else this.#note(call, reply);
        resolve();
      }),
    );
  }

  #note(call: Call, reply: CallReply): void {
    if (call.kind === 'forget') this.#granted = [];
    if (call.kind === 'decide' && (reply as { granted: boolean }).granted)
      this.#granted.push({ t: Math.ceil(this.#serverUs / 1000), n: call.cost[0], epoch: 0 });
    if (call.kind !== 'reserve') return;
    const { now, epoch, segments } = reply as ReserveReply;
    const { cost } = call.request.runs[0];
    for (const { count, delay } of segments)
      if (delay >= 0)
        for (let i = 0; i < count; i++) this.#granted.push({ t: Math.ceil(now + delay), n: cost[0], epoch });
  }

  /** Refunds permits of a moment, or of the newest grants up to now. */
  #removeGrants(moment: number, permits: number): void {
    const now = Math.ceil(this.#serverUs / 1000);
    const found = this.#granted.filter(({ t }) => (moment === -1 ? t <= now : t === moment));
    let left = permits;
    for (const grant of found.sort((a, b) => b.t - a.t)) {
      const back = Math.min(left, grant.n);
      grant.n -= back;
      left -= back;
    }
    this.#granted = this.#granted.filter(({ n }) => n > 0);
  }

  #draw(client: number): Call {
    const at = { client, serverUs: this.#serverUs };
    const cost = this.#fitting([1 + this.#upTo(2), 1]);
    const kind = this.#upTo(19);
    const sequence = ++this.#sequence;
    if (kind < 9) {
      // No reservation is so far ahead that a change could void it.
      const maxWait = kind < 4 ? 0 : 1500;
      const runs = [{ count: 1 + this.#upTo(3), cost, maxWait }];
      return { ...at, kind: 'reserve', request: { runs, horizon: 1e9, held: kind < 6 ? 0 : 1, epoch: 0 } };
    }
    if (kind < 11) return { ...at, kind: 'decide', cost };
    const held = this.#granted[this.#upTo(this.#granted.length - 1)];
    if (kind < 14 && held?.epoch) {
      const refund = { moment: held.t, epoch: held.epoch, source: 'redis' as const, count: 1 };
      return { ...at, kind: 'refund', sequence, refunds: [{ ...refund, cost: this.#fitting([held.n, 1]) }] };
    }
    if (kind < 15) {
      const refund = {
        moment: -1,
        epoch: 0,
        source: 'redis' as const,
        count: 1,
        cost: this.#fitting([1, 1]),
      };
      return { ...at, kind: 'refund', sequence, refunds: [refund] };
    }
    if (kind < 16) return { ...at, kind: 'peek' };
    if (kind < 17)
      return {
        ...at,
        kind: 'setRate',
        change: { limits: this.#fitting(this.#upTo(1) ? limits : fewer), ifAbsent: false, keepState: true },
      };
    if (kind < 18) return { ...at, kind: 'pause', ms: 50 };
    if (kind < 19 && this.#upTo(4) === 0) return { ...at, kind: 'forget', rate: this.#upTo(1) === 1 };
    return { ...at, kind: 'getRate' };
  }

  /** A pseudo-random integer from 0 to `most`. */
  #upTo(most: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * (most + 1));
  }
}
