import type { Subscription } from 'rxjs';
import { AcquireTimeoutError, type Permit, permits$, RateLimiter, type Store } from '../../src/index.ts';
import { eachSegment, momentOf } from '../../src/stores/segments.ts';
import type { ControlledLedger } from '../../src/stores/store.ts';
import { type LimitSpec, limitOf } from '../properties/specs.ts';
import type { HistoryWriter } from './writer.ts';

/** A store that records its reservations and refunds. */
export function recordedStore(store: Store, history: Pick<HistoryWriter, 'write' | 'flush'>): Store {
  return {
    open(config) {
      const ledger = store.open(config);
      const recorded: Partial<ControlledLedger> = {
        reserve(request, answer) {
          ledger.reserve(request, (error, reply) => {
            if (reply) {
              const reserved: { moment: number; permits: number; count: number }[] = [];
              eachSegment(request.runs, reply.segments, ({ cost }, { delay, count }) => {
                if (delay >= 0) reserved.push({ moment: momentOf(reply, delay), permits: cost[0], count });
              });
              const { now, epoch, retryAfter = 0 } = reply;
              history.write({ event: 'called', now, epoch, reserved, hasTurn: retryAfter > 0 });
            }
            answer(error, reply);
          });
        },
        refund(refunds, sequence, answer) {
          const permits = refunds.reduce(
            (sum, { cost, count, moment }) => sum + (moment < 0 ? 0 : cost[0] * count),
            0,
          );
          const moments = refunds.flatMap(({ moment, count }) =>
            moment < 0 ? [] : Array(count).fill(moment),
          );
          history.write({ event: 'gaveBack', permits, moments });
          // Before Redis can receive it.
          history.flush();
          ledger.refund(refunds, sequence, answer);
        },
      };
      return new Proxy(ledger, {
        get(target, name) {
          const value = Reflect.get(recorded, name) ?? Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

/** A request that may be cancelled. */
export interface Request {
  readonly ended: Promise<Permit<number> | undefined>;
  cancel(): void;
}

/** A limiter of one limit whose process writes its history. */
export class RecordedLimiter {
  readonly limiter: RateLimiter;
  readonly #history: HistoryWriter;
  #last = 0;
  readonly #ids = new WeakMap<Permit<number>, number>();

  constructor(
    options: { name: string; process: string; limit: LimitSpec; store: Store },
    history: HistoryWriter,
  ) {
    const { name, process, limit } = options;
    this.#history = history;
    history.write({ event: 'started', process, limit });
    const store = recordedStore(options.store, history);
    this.limiter = new RateLimiter({ name, limit: limitOf(limit), store, clientId: process });
  }

  /** Requests permits; the promise never rejects, and is undefined without a grant. */
  ask(permits: number, timeout = Infinity): Request {
    const id = this.#asked(permits, timeout);
    const controller = new AbortController();
    const { signal } = controller;
    const ended = this.limiter.acquire(permits, { timeout, signal }).then(
      (permit) => this.#granted(id, permit as Permit<number>),
      (error) => {
        if (error === signal.reason) this.#history.write({ event: 'cancelled', id });
        else if (error instanceof AcquireTimeoutError) this.#history.write({ event: 'refused', id });
        else this.#history.write({ event: 'failed', id, error: String(error) });
        return undefined;
      },
    );
    return { ended, cancel: () => controller.abort() };
  }

  /** Requests one permit as a stream does: to unsubscribe cancels. */
  subscribe(onPermit: (permit: Permit<number>) => void): Subscription {
    const id = this.#asked(1, Infinity);
    let isGranted = false;
    const subscription = permits$(this.limiter).subscribe((permit) => {
      isGranted = true;
      onPermit(this.#granted(id, permit as Permit<number>));
    });
    subscription.add(() => {
      if (!isGranted) this.#history.write({ event: 'cancelled', id });
    });
    return subscription;
  }

  #asked(permits: number, timeout: number): number {
    const id = ++this.#last;
    this.#history.write({ event: 'asked', id, permits, timeout: timeout === Infinity ? null : timeout });
    return id;
  }

  #granted(id: number, permit: Permit<number>): Permit<number> {
    this.#ids.set(permit, id);
    this.#history.write({ event: 'granted', id, moment: permit.grantedAt, source: permit.source });
    return permit;
  }

  /** Refunds the unused part of a permit. */
  async refund(permit: Permit<number>, unused: number): Promise<void> {
    this.#returned(permit, unused);
    await permit.refund(unused);
  }

  /** Settles the used part of a permit. */
  async settle(permit: Permit<number>, used: number): Promise<void> {
    this.#returned(permit, Math.max(0, permit.permits - used));
    await permit.settle(used);
  }

  #returned(permit: Permit<number>, permits: number): void {
    if (permits > 0) this.#history.write({ event: 'returned', id: this.#ids.get(permit)!, permits });
  }

  /** Ends the history normally: all requests have ended. */
  async close(): Promise<void> {
    await this.limiter.close();
    this.#history.write({ event: 'stopped' });
    this.#history.flush();
  }
}
