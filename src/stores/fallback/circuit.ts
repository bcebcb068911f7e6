/** A call that may go to Redis: one of many while Redis serves, or the one that finds out whether it does again. */
export type Pass = 'call' | 'probe';

/**
 * Whether Redis serves: all limiters of one store share what their calls find out.
 *
 * The first failure opens it, and what is asked for goes to the fallback; after the cooldown one call tries Redis again.
 */
export class Circuit {
  readonly #cooldown: number;
  readonly #returns = new Set<() => void>();
  #open = false;
  #probing = false;
  #probeAt = 0;
  /** What the last failure was. */
  cause: unknown;

  /** `cooldown` is in milliseconds. */
  constructor(cooldown: number) {
    this.#cooldown = cooldown;
  }

  /** Whether Redis serves, as far as is known. */
  get serves(): boolean {
    return !this.#open;
  }

  /** Lets a call pass to Redis, or does not. Whoever passes says how it failed, and the probe whether it was answered. */
  pass(now: number, ready: boolean): Pass | undefined {
    if (!this.#open) return 'call';
    if (!ready || this.#probing || now < this.#probeAt) return undefined;
    this.#probing = true;
    return 'probe';
  }

  /** Milliseconds until a call may pass; 0 where only the connection or a probe is waited for. */
  untilProbe(now: number): number {
    return this.#open ? Math.max(0, this.#probeAt - now) : 0;
  }

  /** Redis has answered the probe, though perhaps with an error. */
  answered(): void {
    this.#probing = false;
    this.#open = false;
    const works = [...this.#returns];
    this.#returns.clear();
    for (const work of works) work();
  }

  /** Redis could not be reached, or was too slow. */
  failed(pass: Pass, cause: unknown, now: number): void {
    // What was sent before the failure that opened it says nothing new.
    if (pass === 'call' && this.#open) return;
    if (pass === 'probe') this.#probing = false;
    this.#open = true;
    this.cause = cause;
    this.#probeAt = now + this.#cooldown;
  }

  /** Calls back once, when Redis serves again. */
  onReturn(work: () => void): void {
    this.#returns.add(work);
  }
}
