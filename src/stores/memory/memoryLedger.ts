import { StoreError } from '../../errors.ts';
import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import { otherNames } from '../limitNames.ts';
import type {
  ControlledLedger,
  DecideReply,
  Grant,
  LastMoment,
  LedgerConfig,
  Rate,
  RateChange,
  Refund,
  RefundReply,
  Reply,
  ReserveReply,
  ReserveRequest,
} from '../store.ts';
import { type Control, lift, noControl, pause, storeRate } from './control.ts';
import { decide, decideReopened } from './decide.ts';
import type { Instant, LedgerState } from './ledgerState.ts';
import { moveUp } from './moveUp.ts';
import { closeLedger, instantOf, openLedger } from './openLedger.ts';
import type { Place, Places } from './places.ts';
import { refund, rememberSequence } from './refund.ts';
import { Repeats } from './repeats.ts';
import { reserve } from './reserve.ts';
import { reopen, takeNow } from './take.ts';

/** The control of a limiter without a stored rate or pause. Never changed. */
const unsteered: Control = /* @__PURE__ */ noControl();

type Work<T> = (ledger: LedgerState, instant: Instant, us: number) => T;

/**
 * The ledger of one limiter. Each operation opens the state at the clock's time, works on it, and closes it.
 */
export class MemoryLedger implements ControlledLedger {
  readonly sync = true;
  readonly source = 'memory';
  readonly #config: LedgerConfig;
  readonly #origin: number;
  readonly #places: Places;
  /** The limiter's place. With the scope `client`, it holds the control that all clients share. */
  #limiter: Place | undefined;
  /** This client's own place, with the scope `client`. */
  #own: Place | undefined;
  #limiterId: string | undefined;

  /** `origin` is the clock's zero in epoch milliseconds. */
  constructor(config: LedgerConfig, origin: number, places: Places) {
    this.#config = config;
    this.#origin = origin;
    this.#places = places;
  }

  get limits(): readonly Limit[] {
    const { limits } = this.#control;
    return limits && !this.#misnamed(this.#control) ? limits : this.#config.limits;
  }

  take(cost: Cost): Grant | undefined {
    const us = this.#clockUs();
    const { repeats } = this.#places;
    if (repeats?.of === this && repeats.take(us, cost)) return repeats.grant;
    this.#places.called(us / 1000);
    const ledger = this.#reopened(us);
    if (!ledger) return undefined;
    const instant = instantOf(ledger, us);
    if (!takeNow(ledger, instant, cost)) return undefined;
    this.#close(ledger, instant);
    const grant: Grant = { cost, moment: Math.ceil(us / 1000), epoch: ledger.epoch, source: 'memory' };
    this.#places.repeats = new Repeats(this, ledger, instant, us, grant);
    return grant;
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    this.#onLedger(reply, (ledger, instant, us) => {
      moveUp(ledger, instant.now, us);
      return { now: us / 1000, ...reserve(ledger, instant, this.#config.clientId, request) };
    });
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    // Each limiter object counts its sequence from 1, so two of the same client need different names here.
    this.#limiterId ??= `${this.#config.clientId}:${globalThis.crypto.randomUUID()}`;
    const limiterId = this.#limiterId;
    this.#onLedger(reply, (ledger, instant) => {
      const answer = refund(ledger, instant, limiterId, refunds, sequence);
      if (answer.restored) rememberSequence(ledger, instant, limiterId, sequence);
      return answer;
    });
  }

  decideNow(cost: Cost, last?: LastMoment, us = this.#serverUs()): DecideReply | undefined {
    const ledger = this.#reopened(us);
    if (!ledger) return undefined;
    const instant = instantOf(ledger, us);
    const decision = decideReopened(ledger, instant, this.#config.clientId, cost, last);
    this.#close(ledger, instant);
    return decision;
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    const us = this.#serverUs();
    const decision = this.decideNow(cost, last, us);
    if (decision) reply(null, decision);
    else
      this.#onLedgerAt(us, reply, (ledger, instant) =>
        decide(ledger, instant, this.#config.clientId, cost, last),
      );
  }

  peek(reply: Reply<number[]>): void {
    const nothing = this.#config.names.map(() => 0);
    this.decide(nothing, (error, decision) => reply(error, decision?.available));
  }

  setRate({ limits, ifAbsent, keepState }: RateChange, reply: Reply<boolean>): void {
    // Read before the control is looked up, as reading the time may drop an idle place.
    const us = this.#serverUs();
    const control = this.#controlled();
    if (ifAbsent && control.limits) {
      reply(null, false);
      return;
    }
    storeRate(control, this.#config.names, limits, keepState, this.#place.ledger?.epoch ?? 0, us);
    this.#onLedger(reply, () => true);
  }

  getRate(reply: Reply<Rate>): void {
    const { limits } = this.#control;
    const wrong = this.#misnamed(this.#control);
    if (wrong) reply(new StoreError(this.#config.name, wrong));
    else reply(null, { limits: limits ?? this.#config.limits, stored: limits !== undefined });
  }

  pause(ms: number, reply: Reply<number>): void {
    const us = this.#serverUs();
    reply(null, pause(this.#controlled(), ms, us));
  }

  forget({ rate }: { rate: boolean }, reply: Reply<void>): void {
    const us = this.#serverUs();
    // The ledger is expired but kept: the next one gets a later epoch, even at the same time.
    const { ledger } = this.#place;
    if (ledger) ledger.expires = 0;
    lift(this.#controlled(), rate, us);
    reply(null);
  }

  get #limiterPlace(): Place {
    if (!this.#limiter?.isKept) this.#limiter = this.#places.of(this.#config);
    return this.#limiter;
  }

  get #place(): Place {
    const { clientId, scope } = this.#config;
    if (scope !== 'client') return this.#limiterPlace;
    if (!this.#own?.isKept) this.#own = this.#places.of(this.#config, clientId);
    return this.#own;
  }

  get #control(): Control {
    return this.#limiterPlace.control ?? unsteered;
  }

  #controlled(): Control {
    const place = this.#limiterPlace;
    place.control ??= noControl();
    return place.control;
  }

  /** The error if the stored rate has other limit names than this limiter. No operation is possible then. */
  #misnamed({ limits, names }: Control): TypeError | undefined {
    return limits && otherNames(this.#config.names, names);
  }

  #clockUs(): number {
    return Math.round((this.#origin + this.#config.clock.now()) * 1000);
  }

  #serverUs(): number {
    const us = this.#clockUs();
    this.#places.called(us / 1000);
    return us;
  }

  /** The state at the server's time, if the fast path may use it. */
  #reopened(us: number): LedgerState | undefined {
    const control = this.#control;
    const { names, limits } = this.#config;
    if (this.#misnamed(control)) return undefined;
    return reopen(this.#place.ledger, names, limits, us, control, this.#places.lastEpoch);
  }

  #onLedger<T>(reply: Reply<T>, work: Work<T>): void {
    this.#onLedgerAt(this.#serverUs(), reply, work);
  }

  #onLedgerAt<T>(us: number, reply: Reply<T>, work: Work<T>): void {
    const control = this.#control;
    const wrong = this.#misnamed(control);
    const { name, names, limits } = this.#config;
    if (wrong) {
      reply(new StoreError(name, wrong));
      return;
    }
    const { ledger, instant } = openLedger(
      this.#place.ledger,
      names,
      limits,
      us,
      control,
      this.#places.lastEpoch,
    );
    const answer = work(ledger, instant, us);
    this.#close(ledger, instant);
    reply(null, answer);
  }

  #close(ledger: LedgerState, instant: Instant): void {
    closeLedger(ledger, instant);
    this.#place.ledger = ledger;
  }
}
