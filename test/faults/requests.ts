import type { AcquireOptions, Permit, Permits, RateLimiter } from '../../src/index.ts';
import type { PermitsAt } from '../properties/oracle.ts';

/** A permit of a limiter of one limit. */
export type Granted = Permit<Permits>;

/** One request, and its result. */
export interface Ending {
  /** Its place in the order of the requests. */
  index: number;
  permits: number;
  /** Milliseconds from the request to its end. */
  lasted: number;
  /** The wall clock at the receipt by the caller: on one machine, the server's. */
  receivedAt: number;
  permit?: Granted;
  error?: unknown;
  /** Its timeout; null for none. */
  timeout: number | null;
  /** Whether its signal has ended it. */
  cancelled: boolean;
  /** Permits that were refunded. */
  returned: number;
}

/** Requests of one limiter, and their results in the order in which the callers received them. */
export class Requests {
  readonly endings: Ending[] = [];
  readonly limiter: RateLimiter;
  readonly #all: Promise<Ending>[] = [];

  constructor(limiter: RateLimiter) {
    this.limiter = limiter;
  }

  get asked(): number {
    return this.#all.length;
  }

  /** Reservations before their moment. */
  get reserved(): number {
    return this.limiter.stats().reserved;
  }

  ask(permits = 1, options: AcquireOptions = {}): Promise<Ending> {
    const index = this.#all.length;
    const since = performance.now();
    const { timeout = Infinity, signal } = options;
    const end = (how: { permit?: Granted; error?: unknown; cancelled: boolean }): Ending => {
      const ending: Ending = {
        ...{ index, permits, lasted: performance.now() - since, receivedAt: Date.now() },
        ...{ timeout: timeout === Infinity ? null : timeout, returned: 0, ...how },
      };
      this.endings.push(ending);
      return ending;
    };
    const ended = this.limiter.acquire(permits, options).then(
      (permit) => end({ permit, cancelled: false }),
      (error: unknown) => end({ error, cancelled: signal?.aborted === true && error === signal.reason }),
    );
    this.#all.push(ended);
    return ended;
  }

  askMany(count: number, permits = 1, options: AcquireOptions = {}): void {
    for (let i = 0; i < count; i++) void this.ask(permits, options);
  }

  /** Refunds all permits of a granted request. */
  async refund(ending: Ending): Promise<void> {
    ending.returned = ending.permits;
    await ending.permit!.refund();
  }

  /** All grants. */
  get permits(): Granted[] {
    return this.endings.flatMap(({ permit }) => permit ?? []);
  }

  /** All failures, with their errors. */
  get errors(): unknown[] {
    return this.endings.flatMap(({ permit, error }) => (permit ? [] : [error]));
  }

  /** Waits until each request has ended, and fails if one hangs. */
  async allEnded(within = 10_000): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<never>((_, reject) => {
      const hangs = () => new Error(`${this.asked - this.endings.length} of ${this.asked} requests hang`);
      timer = setTimeout(() => reject(hangs()), within);
    });
    try {
      await Promise.race([Promise.all(this.#all), tooLong]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Permits in the form that a judge counts. */
export function standing(permits: readonly Granted[]): PermitsAt[] {
  return permits.map(({ grantedAt, permits: n }) => ({ t: grantedAt, n: n as number }));
}

/** Whether the numbers never decrease. */
export function rises(numbers: readonly number[]): boolean {
  return numbers.every((n, i) => i === 0 || n >= numbers[i - 1]);
}
