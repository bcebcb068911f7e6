import { StoreUnavailableError } from '../../errors.ts';
import type { Ledger, Refund, RefundReply, Reply } from '../store.ts';
import type { Circuit } from './circuit.ts';
import type { Connection } from './connection.ts';

/** At most so many refunds are kept for Redis while it is away, of all limiters of a store. */
const mostKept = 8192;

/** How many refunds are kept, of all limiters of a store. */
export interface Kept {
  refunds: number;
}

/** Refunds of one call. */
interface Batch {
  refunds: readonly Refund[];
  /** The same however often it is sent: it counts once. */
  sequence: number;
  reply: Reply<RefundReply>;
}

/**
 * What a limiter gives back to Redis: in order, one call at a time. What Redis has not answered is sent again when it
 * serves again, up to a bound; beyond that it is dropped, and its permits come back by themselves.
 */
export class Recovery {
  readonly #ledger: Ledger;
  readonly #connection: Connection;
  readonly #circuit: Circuit;
  readonly #kept: Kept;
  readonly #batches: Batch[] = [];
  #sequence = 0;
  #sending = false;

  constructor(ledger: Ledger, connection: Connection, circuit: Circuit, kept: Kept) {
    this.#ledger = ledger;
    this.#connection = connection;
    this.#circuit = circuit;
    this.#kept = kept;
  }

  /** Gives back now, or when Redis serves again. */
  give(refunds: readonly Refund[], reply: Reply<RefundReply> = () => {}): void {
    if (refunds.length === 0) return;
    const waits = this.#batches.length > 0 || !this.#connection.ready;
    if (waits && this.#kept.refunds + refunds.length > mostKept) {
      reply(null);
      return;
    }
    this.#kept.refunds += refunds.length;
    this.#batches.push({ refunds, sequence: ++this.#sequence, reply });
    this.#send();
  }

  readonly #send = (): void => {
    const [batch] = this.#batches;
    if (!batch || this.#sending) return;
    // A connection that only seems to be alive takes it, and Redis hears of it when it comes to.
    if (!this.#connection.ready) {
      this.#circuit.onReturn(this.#send);
      return;
    }
    this.#sending = true;
    this.#ledger.refund(batch.refunds, batch.sequence, (error, restored) => {
      this.#sending = false;
      batch.reply(error, restored);
      if (error instanceof StoreUnavailableError) {
        this.#circuit.onReturn(this.#send);
        return;
      }
      this.#batches.shift();
      this.#kept.refunds -= batch.refunds.length;
      this.#send();
    });
  };
}
