import { StoreUnavailableError } from '../../errors.ts';
import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import type {
  ControlledLedger,
  DecideReply,
  Rate,
  RateChange,
  Refund,
  RefundReply,
  Reply,
  ReserveReply,
  ReserveRequest,
} from '../store.ts';
import type { Circuit } from './circuit.ts';

/** Serves in place of Redis: refuses whatever is asked, and says why Redis cannot be reached. */
export class Rejecting implements ControlledLedger {
  readonly sync = true;
  readonly source = 'fallback';
  readonly #name: string;
  readonly #circuit: Circuit;

  constructor(name: string, circuit: Circuit) {
    this.#name = name;
    this.#circuit = circuit;
  }

  get limits(): readonly Limit[] {
    return [];
  }

  /** Why Redis does not serve. */
  get error(): StoreUnavailableError {
    return new StoreUnavailableError(this.#name, this.#circuit.cause);
  }

  reserve(_request: ReserveRequest, reply: Reply<ReserveReply>): void {
    reply(this.error);
  }

  refund(_refunds: readonly Refund[], _sequence: number, reply: Reply<RefundReply>): void {
    reply(this.error);
  }

  decide(_cost: Cost, reply: Reply<DecideReply>): void {
    reply(this.error);
  }

  peek(reply: Reply<number[]>): void {
    reply(this.error);
  }

  setRate(_change: RateChange, reply: Reply<boolean>): void {
    reply(this.error);
  }

  getRate(reply: Reply<Rate>): void {
    reply(this.error);
  }

  pause(_ms: number, reply: Reply<number>): void {
    reply(this.error);
  }

  forget(_what: { rate: boolean }, reply: Reply<void>): void {
    reply(this.error);
  }
}
