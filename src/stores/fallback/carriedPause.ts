import type { Clock } from '../../clock.ts';
import type { Reply } from '../store.ts';

/** What is paused: the ledger in Redis, or the standby. */
interface Pausable {
  pause(ms: number, reply: Reply<number>): void;
}

/** A pause of one limiter that passes from Redis to the standby, and back. */
export class CarriedPause {
  readonly #clock: Clock;
  #until = 0;
  /** Whether Redis has not received it. */
  #isLocal = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Redis or the standby pauses for so many milliseconds. */
  set(ms: number, by: 'redis' | 'standby'): void {
    this.#until = this.#clock.now() + ms;
    this.#isLocal = by === 'standby';
  }

  /** The pause after a reply from Redis that reports one of so many milliseconds. */
  after(ms: number): number {
    const longest = this.#isLocal ? Math.max(ms, this.#left) : ms;
    this.set(longest, 'redis');
    return longest;
  }

  /** Passes it on to the standby. */
  toStandby(standby: Pausable): void {
    if (this.#left > 0) standby.pause(this.#left, () => {});
  }

  /** Passes it on to Redis, if it began in the standby. */
  toRedis(redis: Pausable): void {
    if (this.#isLocal && this.#left > 0) redis.pause(this.#left, () => {});
  }

  get #left(): number {
    return Math.max(0, this.#until - this.#clock.now());
  }
}
