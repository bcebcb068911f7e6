import { StoreUnavailableError } from '../../errors.ts';
import type { Ledger, Refund, RefundReply, Reply } from '../store.ts';
import { isMoving } from './errors.ts';

/** The most refunds that are kept while Redis is unavailable, of all limiters of a store. */
const mostKept = 8192;

/** State that the limiters of a store with a fallback share: whether Redis is available, and how many refunds wait for it. */
export interface Outage {
  /** Whether a call is sent at once. */
  readonly isOver: boolean;
  /** Calls back once, when Redis is available again. */
  onRecovery(work: () => void): void;
  kept: number;
}

/** The refunds of one call. */
interface Batch {
  refunds: readonly Refund[];
  /** The same each time it is sent, so that it counts once. */
  sequence: number;
  reply: Reply<RefundReply>;
}

/**
 * Refunds of one limiter to Redis: sent in order, one call at a time.
 *
 * With an `outage`, refunds without a reply are sent again when Redis is available; while too many wait, further ones are
 * dropped. The permits of a dropped refund count as used until they expire or are refilled.
 */
export class RefundQueue {
  readonly #ledger: Ledger;
  readonly #outage: Outage | undefined;
  readonly #batches: Batch[] = [];
  /** The last sequence number. Each is `step` more than the one before. */
  #sequence: number;
  readonly #step: number;
  #isSending = false;
  /** Receives the reply to the call in flight. */
  #answer: Reply<RefundReply> | undefined;

  constructor(ledger: Ledger, outage?: Outage, remainder = 0) {
    this.#ledger = ledger;
    this.#outage = outage;
    this.#sequence = remainder;
    this.#step = ledger.mostRefundCalls ?? 1;
  }

  /** Sends refunds behind those that were added before. */
  add(refunds: readonly Refund[], reply: Reply<RefundReply> = () => {}): void {
    if (refunds.length === 0) return;
    const outage = this.#outage;
    if (outage) {
      const waits = this.#batches.length > 0 || !outage.isOver;
      if (waits && outage.kept + refunds.length > mostKept) {
        reply(null);
        return;
      }
      outage.kept += refunds.length;
    }
    this.#sequence += this.#step;
    this.#batches.push({ refunds, sequence: this.#sequence, reply });
    this.#send();
  }

  /** The call in flight, if there is one, has no reply, or will have none: its connection is lost. */
  drop(error: Error): void {
    this.#answer?.(error);
  }

  readonly #send = (): void => {
    const [batch] = this.#batches;
    if (!batch || this.#isSending) return;
    const outage = this.#outage;
    // A connection that is ready takes the call even if Redis does not reply: Redis runs it as soon as it can.
    if (outage && !outage.isOver) {
      outage.onRecovery(this.#send);
      return;
    }
    this.#isSending = true;
    const answer: Reply<RefundReply> = (error, reply) => {
      if (this.#answer !== answer) return;
      this.#answer = undefined;
      const isKept = outage !== undefined && error instanceof StoreUnavailableError;
      if (isKept) outage.onRecovery(this.#send);
      else {
        this.#batches.shift();
        if (outage) outage.kept -= batch.refunds.length;
      }
      // Refunds that the reply adds are sent at once: a call that it makes after them must not overtake them.
      this.#isSending = isKept;
      // Other slots of the cluster are still available.
      batch.reply(isKept && isMoving(error) ? null : error, reply);
      if (isKept) this.#isSending = false;
      else this.#send();
    };
    this.#answer = answer;
    this.#ledger.refund(batch.refunds, batch.sequence, answer);
  };
}
