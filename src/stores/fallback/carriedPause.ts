import type { Clock } from '../../clock.ts';
import type { Reply } from '../store.ts';

/** A standby. */
interface Pausable {
  pause(ms: number, reply: Reply<number>): void;
  lift(): void;
}

/** A pause of one limiter that passes from Redis to the standby, and back. */
export class CarriedPause {
  readonly #clock: Clock;
  #until = 0;
  /** The end of the last pause of the standby. */
  #standbyUntil = 0;
  /** Whether Redis has not received it. */
  #isLocal = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that Redis or the standby has paused for `ms` milliseconds. */
  set(ms: number, by: 'redis' | 'standby'): void {
    this.#until = this.#clock.now() + ms;
    this.#isLocal = by === 'standby';
    if (this.#isLocal) this.#standbyUntil = this.#until;
  }

  /** Records the pause in a reply from Redis, 0 for none. Returns the milliseconds left of the pause in force. */
  after(ms: number): number {
    // Redis receives it later.
    if (this.#isLocal && this.left > ms) return this.left;
    this.set(ms, 'redis');
    return ms;
  }

  /** Passes the pause on to the standby, and lifts one that Redis has lifted since. */
  toStandby(standby: Pausable): void {
    if (this.#standbyUntil > Math.max(this.#until, this.#clock.now())) standby.lift();
    this.#standbyUntil = this.#until;
    if (this.left > 0) standby.pause(this.left, () => {});
  }

  /** Whether Redis has not received the pause, and it lasts. */
  get isToBeSent(): boolean {
    return this.#isLocal && this.left > 0;
  }

  /** The milliseconds left. */
  get left(): number {
    return Math.max(0, this.#until - this.#clock.now());
  }
}
