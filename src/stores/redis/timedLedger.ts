import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import { eachSegment, momentOf } from '../segments.ts';
import {
  type ControlledLedger,
  type DecideReply,
  type LastMoment,
  type Ledger,
  newestGrants,
  type PermitSource,
  type Rate,
  type RateChange,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type ReserveRequest,
  type Run,
} from '../store.ts';
import { type Outage, RefundQueue } from './refundQueue.ts';
import type { TimedCalls } from './timedCalls.ts';

/** A ledger in Redis whose calls have a timeout. Permits that a `reserve` call takes after its timeout are refunded. */
export class TimedLedger<L extends Ledger = Ledger> implements Ledger {
  readonly ledger: L;
  readonly #name: string;
  readonly #calls: TimedCalls;
  readonly #outage: Outage | undefined;
  /** One for each remainder of the sequence numbers. */
  #refunds: RefundQueue[] | undefined;

  constructor(name: string, ledger: L, calls: TimedCalls, outage?: Outage) {
    this.#name = name;
    this.ledger = ledger;
    this.#calls = calls;
    this.#outage = outage;
  }

  get sync(): boolean {
    return false;
  }

  get source(): PermitSource {
    return this.ledger.source;
  }

  get limits(): readonly Limit[] {
    return this.ledger.limits;
  }

  get mostRefundCalls(): number {
    return this.ledger.mostRefundCalls ?? 1;
  }

  /** The refunds whose calls have this remainder. */
  refundQueue(remainder: number): RefundQueue {
    this.#refunds ??= [];
    this.#refunds[remainder] ??= new RefundQueue(this.ledger, this.#outage, remainder);
    return this.#refunds[remainder];
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    let hasReturned = false;
    let hasWaited = false;
    const send = (done: Reply<ReserveReply>) => {
      hasWaited = hasReturned;
      this.ledger.reserve(request.isObsolete?.() ? { ...request, runs: [] } : request, done);
    };
    const ended: Reply<ReserveReply> = (error, value) => {
      if (value && hasWaited) value.hasWaited = true;
      reply(error, value);
    };
    this.timed(send, ended, (value) => this.refundQueue(0).add(refundsOf(request.runs, value)));
    hasReturned = true;
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const queue = this.refundQueue(sequence % this.mostRefundCalls);
    let added = false;
    const add = (done: Reply<RefundReply>) => {
      added = true;
      queue.add(refunds, done);
    };
    const ended: Reply<RefundReply> = (error, restored) => {
      // They could not be sent without a connection.
      if (!added) queue.add(this.#outage ? refunds : refunds.filter(mayRunLate));
      else if (error && this.#calls.loses) queue.drop(error);
      reply(error, restored);
    };
    // With an outage, the refund queue sends refunds again by itself.
    this.timed(add, ended, undefined, !this.#outage);
  }

  /**
   * Permits that a decision takes after its timeout are not refunded: their moment is not known, and a release could take the
   * permits of another request.
   */
  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    this.timed((done) => this.ledger.decide(cost, done, last), reply);
  }

  peek(reply: Reply<number[]>): void {
    this.timed((done) => this.ledger.peek(done), reply);
  }

  /** Makes a call with a timeout. */
  protected timed<T>(
    send: (reply: Reply<T>) => void,
    reply: Reply<T>,
    late?: (value: T) => void,
    retries?: boolean,
  ): void {
    this.#calls.call(this.#name, send, reply, late, retries);
  }
}

/** The same for a ledger whose limit can be changed. Redis may still make a change that has timed out. */
export class TimedControlledLedger extends TimedLedger<ControlledLedger> implements ControlledLedger {
  setRate(change: RateChange, reply: Reply<boolean>): void {
    this.timed((done) => this.ledger.setRate(change, done), reply);
  }

  getRate(reply: Reply<Rate>): void {
    this.timed((done) => this.ledger.getRate(done), reply);
  }

  pause(ms: number, reply: Reply<number>): void {
    this.timed((done) => this.ledger.pause(ms, done), reply);
  }

  forget(what: { rate: boolean }, reply: Reply<void>): void {
    this.timed((done) => this.ledger.forget(what, done), reply);
  }
}

/** Whether a refund that has failed may still be made: a release would take the newest grants of that time, perhaps of others. */
function mayRunLate({ moment }: Refund): boolean {
  return moment !== newestGrants;
}

/** Refunds of all permits that a reply grants or reserves. */
function refundsOf(runs: readonly Run[], reply: ReserveReply): Refund[] {
  const refunds: Refund[] = [];
  const { epoch } = reply;
  eachSegment(runs, reply.segments, ({ cost }, { count, delay }) => {
    if (delay >= 0) refunds.push({ moment: momentOf(reply, delay), epoch, source: 'redis', cost, count });
  });
  return refunds;
}
