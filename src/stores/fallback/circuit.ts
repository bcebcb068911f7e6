/**
 * A circuit breaker that the limiters of a store share.
 *
 * The first failure opens it; while it is open, the fallback serves. After the cooldown, one call may try Redis again: the
 * probe.
 */
export class Circuit {
  readonly #cooldown: number;
  /** What waits until it closes, and whether that is still needed. */
  readonly #onClosed = new Map<() => void, () => boolean>();
  #probing = false;
  #probeAt = 0;
  /** Whether Redis is taken to be unavailable. */
  isOpen = false;
  /** The last failure. */
  cause: unknown;

  /** `cooldown` is in milliseconds. */
  constructor(cooldown: number) {
    this.#cooldown = cooldown;
  }

  /** What may be sent to Redis now. `failed` then reports each failure, and `close` the reply to a probe. */
  permits(now: number, isReady: boolean): 'call' | 'probe' | 'nothing' {
    if (!this.isOpen) return 'call';
    if (!isReady || this.#probing || now < this.#probeAt) return 'nothing';
    this.#probing = true;
    return 'probe';
  }

  /** Milliseconds until a probe is due, as far as only the cooldown delays it. */
  untilProbe(now: number): number {
    return this.isOpen ? Math.max(0, this.#probeAt - now) : 0;
  }

  /** Closes the circuit: Redis has replied to the probe, perhaps with an error. */
  close(): void {
    this.#probing = false;
    this.isOpen = false;
    const works = [...this.#onClosed.keys()];
    this.#onClosed.clear();
    for (const work of works) work();
  }

  /** Opens the circuit: a call or the probe found Redis unreachable or too slow. */
  failed(what: 'call' | 'probe', cause: unknown, now: number): void {
    // A call that was sent before the circuit opened.
    if (what === 'call' && this.isOpen) return;
    if (what === 'probe') this.#probing = false;
    this.isOpen = true;
    this.cause = cause;
    this.#probeAt = now + this.#cooldown;
  }

  /** Whether there is work for when it closes. */
  get isAwaited(): boolean {
    for (const [work, isNeeded] of this.#onClosed) {
      if (isNeeded()) return true;
      this.#onClosed.delete(work);
    }
    return false;
  }

  /** Calls back once, when the circuit closes next, unless that is not needed any more. */
  onClosed(work: () => void, isNeeded = () => true): void {
    this.#onClosed.set(work, isNeeded);
  }
}
