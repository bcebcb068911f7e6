import type { Clock } from '../clock.ts';
import type { DispatcherOptions } from '../dispatcher/parts.ts';
import type { Cost, NamedLimits } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';
import { LimiterEvents } from '../port/events.ts';
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
import type { SharedParts } from './limiterParts.ts';

/** The group of a keyed ledger. */
export interface KeyedOwner<L> {
  readonly shared: SharedParts;
  /** Opens the ledger of a key in the store of the group. */
  open(ledger: KeyedLedger<L>): ControlledLedger;
  /** Records that a ledger is used. Returns an error if the group is closed. */
  use(ledger: KeyedLedger<L>): Error | undefined;
}

/**
 * The ledger of one limiter of a group. It is opened when it is first used, and each use keeps its limiter in the group. It is
 * also the options of the limiter's line, so that a key needs no further object for them.
 *
 * A closed group refuses all calls but refunds.
 */
export class KeyedLedger<L> implements ControlledLedger, DispatcherOptions {
  readonly key: string;
  readonly named: NamedLimits;
  /** Where the store reports that a fallback serves, if there is one. */
  readonly events: LimiterEvents | undefined;
  readonly #owner: KeyedOwner<L>;
  #opened: ControlledLedger | undefined;
  /** The limiter over this ledger, set right after construction. */
  limiter: L | undefined;
  /** Whether it was used since the last visit of the group's clock hand. */
  used = false;

  constructor(owner: KeyedOwner<L>, key: string, named: NamedLimits) {
    this.#owner = owner;
    this.key = key;
    this.named = named;
    this.events = owner.shared.hasFallback ? new LimiterEvents(this.name) : undefined;
  }

  get name(): string {
    return `${this.#owner.shared.config.name}:${this.key}`;
  }

  get clock(): Clock {
    return this.#owner.shared.clock;
  }

  get maxQueue(): number {
    return this.#owner.shared.maxQueue;
  }

  get ledger(): this {
    return this;
  }

  get #ledger(): ControlledLedger {
    this.#opened ??= this.#owner.open(this);
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
    return this.#owner.use(this) ? undefined : this.#ledger.take?.(cost);
  }

  decideNow(cost: Cost): DecideReply | undefined {
    return this.#owner.use(this) ? undefined : this.#ledger.decideNow?.(cost);
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    if (this.#use(reply)) this.#ledger.reserve(request, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    this.#owner.use(this);
    this.#ledger.refund(refunds, sequence, reply);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    if (this.#use(reply)) this.#ledger.decide(cost, reply, last);
  }

  peek(reply: Reply<number[]>): void {
    if (this.#use(reply)) this.#ledger.peek(reply);
  }

  setRate(change: RateChange, reply: Reply<boolean>): void {
    if (this.#use(reply)) this.#ledger.setRate(change, reply);
  }

  getRate(reply: Reply<Rate>): void {
    if (this.#use(reply)) this.#ledger.getRate(reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    if (this.#use(reply)) this.#ledger.pause(ms, reply);
  }

  forget(what: { rate: boolean }, reply: Reply<void>): void {
    if (this.#use(reply)) this.#ledger.forget(what, reply);
  }

  /** Returns whether the call may be made; otherwise replies with the error. */
  #use<T>(reply: Reply<T>): boolean {
    const error = this.#owner.use(this);
    if (error) reply(error);
    return error === undefined;
  }
}
