import type { Clock } from '../../clock.ts';
import { StoreUnavailableError } from '../../errors.ts';
import type { Connection, Watcher } from '../redis/connection.ts';
import type { Ledger } from '../store.ts';
import type { Circuit } from './circuit.ts';

/** The fewest milliseconds between two probes that no call needs, whatever the cooldown is. */
const leastBetween = 100;

/** What the limiters of a store share to notice that Redis is available again. */
export interface RecoveryParts {
  clock: Clock;
  circuit: Circuit;
  connection: Connection;
  /** Milliseconds after a failure before the next probe. */
  cooldown: number;
  /** Any ledger of the store. */
  redis: Pick<Ledger, 'peek'>;
}

/**
 * Work that waits until Redis is available, such as refunds. While there is any, Redis is probed also if no limiter makes a call.
 */
export class Recovery implements Watcher {
  readonly #parts: RecoveryParts;
  #hasTimer = false;

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /**
   * Calls back once, when the circuit closes next, or after the cooldown if it is closed, unless that is not needed any more.
   */
  await(work: () => void, isNeeded?: () => boolean): void {
    this.#parts.circuit.onClosed(work, isNeeded);
    this.#lookLater(this.#between);
  }

  /** The connection is ready: Redis may be probed when the cooldown is over. */
  ready(): void {
    const { clock, circuit, connection } = this.#parts;
    connection.unwatch(this);
    this.#lookLater(circuit.untilProbe(clock.now()));
  }

  lost(): void {
    // A client that makes no further attempt may be connected again, and then has calls that find Redis available.
    if (this.#parts.connection.hasEnded) this.#parts.connection.unwatch(this);
  }

  get #between(): number {
    return Math.max(leastBetween, this.#parts.cooldown);
  }

  #lookLater(ms: number): void {
    const { clock, circuit, connection } = this.#parts;
    if (this.#hasTimer || !circuit.isAwaited) return;
    if (connection.ready) {
      this.#hasTimer = true;
      clock.after(ms, this.#look, false);
    } else if (!connection.hasEnded) connection.watch(this);
  }

  readonly #look = (): void => {
    const { circuit, connection, redis } = this.#parts;
    this.#hasTimer = false;
    if (!circuit.isAwaited) return;
    if (!connection.ready) {
      this.#lookLater(0);
      return;
    }
    const again = () => this.#lookLater(this.#between);
    if (!circuit.isOpen) {
      circuit.close();
      again();
      return;
    }
    // A failure does not delay the probes that calls make: of a cluster, another node may be available.
    redis.peek((error) => {
      if (!(error instanceof StoreUnavailableError)) circuit.close();
      again();
    });
  };
}
