import type { Clock } from '../../clock.ts';
import type { Reply } from '../store.ts';

/** A limiter, or its standby. */
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

  /** Records that Redis or the standby has paused for `ms` milliseconds. */
  set(ms: number, by: 'redis' | 'standby'): void {
    this.#until = this.#clock.now() + ms;
    this.#isLocal = by === 'standby';
  }

  /** Records the pause in a reply from Redis, 0 for none. Returns the milliseconds left of the pause in force. */
  after(ms: number): number {
    const longest = this.#isLocal ? Math.max(ms, this.#left) : ms;
    this.set(longest, 'redis');
    return longest;
  }

  /** Passes the pause on to the standby. */
  toStandby(standby: Pausable): void {
    if (this.#left > 0) standby.pause(this.#left, () => {});
  }

  /** Passes the pause on to the limiter, whose calls Redis serves again, if it began in the standby. */
  toRedis(limiter: Pausable): void {
    if (this.#isLocal && this.#left > 0) limiter.pause(this.#left, () => {});
  }

  get #left(): number {
    return Math.max(0, this.#until - this.#clock.now());
  }
}
