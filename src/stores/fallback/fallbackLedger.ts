import type { Clock } from '../../clock.ts';
import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import {
  type ControlledLedger,
  type DecideReply,
  type LastMoment,
  newestGrants,
  type PermitSource,
  type Rate,
  type RateChange,
  type Refund,
  type RefundReply,
  type Reply,
  type ReserveReply,
  type ReserveRequest,
} from '../store.ts';
import type { Circuit } from './circuit.ts';
import type { FallbackService, Operation } from './fallbackService.ts';
import { refundsOf } from './lateReplies.ts';
import type { Recovery } from './recovery.ts';
import { withTimePassed } from './timePassed.ts';

/** What the ledger of one limiter is made of. */
export interface FallbackParts {
  redis: ControlledLedger;
  fallback: ControlledLedger;
  service: FallbackService;
  returns: Recovery;
  circuit: Circuit;
  clock: Clock;
}

/** The ledger of one limiter in Redis, or in the fallback while Redis is away. */
export class FallbackLedger implements ControlledLedger {
  /** Redis answers later, the fallback before the call returns. */
  readonly sync = false;
  readonly #parts: FallbackParts;
  /** The epoch in Redis, as far as it is known. */
  #epoch = 0;
  /** Whether the fallback has booked anything since Redis last did. */
  #booked = false;

  constructor(parts: FallbackParts) {
    this.#parts = parts;
  }

  /** Who gave the last reply. */
  get source(): PermitSource {
    return this.#parts.service.source;
  }

  get limits(): readonly Limit[] {
    return this.#parts.redis.limits;
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    const { redis, fallback, clock, returns, service } = this.#parts;
    const asked = clock.now();
    const operation: Operation<ReserveReply> = {
      redis: (done) => redis.reserve({ ...request, epoch: this.#epoch }, done),
      fallback: (done) => {
        this.#booked = true;
        fallback.reserve(withTimePassed(request, clock.now() - asked), done);
      },
      answered: (booked) => this.#follow(booked),
      late: (booked) => returns.give(refundsOf(request.runs, booked)),
    };
    service.perform(operation, reply);
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    const { fallback, returns, service, circuit } = this.#parts;
    const ofFallback = ({ source, moment }: Refund) =>
      moment === newestGrants ? !circuit.serves : source === 'fallback';
    const here = refunds.filter(ofFallback);
    const there = refunds.filter((refund) => !ofFallback(refund));
    if (there.length === 0) {
      fallback.refund(here, sequence, reply);
      return;
    }
    if (here.length > 0) fallback.refund(here, sequence, () => {});
    if (circuit.serves) {
      let given = false;
      const give = (done: Reply<RefundReply>) => {
        given = true;
        returns.give(there, done);
      };
      // What Redis does not take now is kept for it, also where it could not even be asked.
      const keep = (done: Reply<RefundReply>) => {
        if (!given) returns.give(there);
        done(null);
      };
      service.perform<RefundReply>({ redis: give, fallback: keep }, reply);
    } else {
      returns.give(there);
      reply(null);
    }
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    // What a decision took that ran late comes back by itself: its moment is not known, and a release could take another's.
    const operation = this.#either<DecideReply>((ledger, done) => ledger.decide(cost, done, last));
    this.#parts.service.perform(operation, reply);
  }

  peek(reply: Reply<number[]>): void {
    this.#parts.service.perform(
      this.#either<number[]>((ledger, done) => ledger.peek(done)),
      reply,
    );
  }

  setRate(change: RateChange, reply: Reply<boolean>): void {
    this.#parts.service.perform(
      this.#either<boolean>((ledger, done) => ledger.setRate(change, done)),
      reply,
    );
  }

  getRate(reply: Reply<Rate>): void {
    this.#parts.service.perform(
      this.#either<Rate>((ledger, done) => ledger.getRate(done)),
      reply,
    );
  }

  pause(ms: number, reply: Reply<number>): void {
    const { redis, fallback, service } = this.#parts;
    const operation: Operation<number> = {
      redis: (done) => redis.pause(ms, done),
      fallback: (done) =>
        fallback.pause(ms, (error, lasts) => {
          if (!error) service.notePause(lasts!, true);
          done(error, lasts);
        }),
      answered: (lasts) => service.notePause(lasts, false),
    };
    service.perform(operation, reply);
  }

  forget(what: { rate: boolean }, reply: Reply<void>): void {
    const { service } = this.#parts;
    const operation = this.#either<void>((ledger, done) => ledger.forget(what, done));
    service.perform({ ...operation, answered: () => service.notePause(0, false) }, reply);
  }

  /** The same of whoever serves. */
  #either<T>(ask: (ledger: ControlledLedger, done: Reply<T>) => void): Operation<T> {
    const { redis, fallback } = this.#parts;
    return { redis: (done) => ask(redis, done), fallback: (done) => ask(fallback, done) };
  }

  /** Follows a reply from Redis. */
  #follow(reply: ReserveReply): void {
    this.#epoch = reply.epoch;
    // What the fallback has booked ahead is asked for again in Redis, which shares it with the fleet.
    if (this.#booked) reply.voidAfter = 0;
    this.#booked = false;
    const paused = this.#parts.service.followPause(reply.paused ?? 0);
    if (paused > 0) reply.paused = paused;
  }
}
