import type { Cost, NamedLimits } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';
import type {
  ControlledLedger,
  DecideReply,
  Grant,
  LastMoment,
  PermitSource,
  Rate,
  RateChange,
  Refund,
  RefundReply,
  Reply,
  ReserveReply,
  ReserveRequest,
} from '../stores/store.ts';

/** The limiter of a key, as its group looks after it. */
interface User {
  readonly key: string;
  /** Told before anything is asked for; may refuse that with an error. */
  use(): Error | undefined;
}

/** Opens the ledger of a key, in the store of the group. */
export type OpenLedger = (key: string, named: NamedLimits) => ControlledLedger;

/** The ledger of one limiter of a group, which is looked after while it is used. What is given back is never refused. */
export class KeyedLedger implements ControlledLedger {
  readonly #user: User;
  readonly #named: NamedLimits;
  readonly #open: OpenLedger;
  #opened: ControlledLedger | undefined;

  /** `open` is called when the ledger is needed. */
  constructor(user: User, named: NamedLimits, open: OpenLedger) {
    this.#user = user;
    this.#named = named;
    this.#open = open;
  }

  get #ledger(): ControlledLedger {
    this.#opened ??= this.#open(this.#user.key, this.#named);
    return this.#opened;
  }

  get sync(): boolean {
    return this.#ledger.sync;
  }

  get source(): PermitSource {
    return this.#ledger.source;
  }

  get limits(): readonly Limit[] {
    return this.#ledger.limits;
  }

  take(cost: Cost): Grant | undefined {
    return this.#user.use() ? undefined : this.#ledger.take?.(cost);
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    if (this.#isLet(reply)) this.#ledger.reserve(request, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    this.#user.use();
    this.#ledger.refund(refunds, sequence, reply);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    if (this.#isLet(reply)) this.#ledger.decide(cost, reply, last);
  }

  peek(reply: Reply<number[]>): void {
    if (this.#isLet(reply)) this.#ledger.peek(reply);
  }

  setRate(change: RateChange, reply: Reply<boolean>): void {
    if (this.#isLet(reply)) this.#ledger.setRate(change, reply);
  }

  getRate(reply: Reply<Rate>): void {
    if (this.#isLet(reply)) this.#ledger.getRate(reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    if (this.#isLet(reply)) this.#ledger.pause(ms, reply);
  }

  forget(what: { rate: boolean }, reply: Reply<void>): void {
    if (this.#isLet(reply)) this.#ledger.forget(what, reply);
  }

  #isLet<T>(reply: Reply<T>): boolean {
    const error = this.#user.use();
    if (error) reply(error);
    return error === undefined;
  }
}
