import { StoreError } from '../../errors.ts';
import type { Cost } from '../../limits/cost.ts';
import type { Limit } from '../../limits/limit.ts';
import type {
  ControlledLedger,
  DecideReply,
  Grant,
  LastMoment,
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
import { Place } from './places.ts';
import { refund } from './refund.ts';
import { Repeats } from './repeats.ts';
import { reserve } from './reserve.ts';
import type { Setting } from './setting.ts';
import { reopen, takeNow } from './take.ts';
import { untilFree } from './untilFree.ts';

/** The control of a limiter without a stored rate or pause. Never changed. */
const unsteered: Control = /* @__PURE__ */ noControl();

type Work<T> = (ledger: LedgerState, instant: Instant, us: number) => T;

/**
 * The ledger of one limiter. Each operation opens the state at the clock's time, works on it, and closes it.
 *
 * The first ledger of a key is also its place in the store. Its methods are `private`, as V8 adds a field to each object of a
 * class with `#` methods.
 */
export class MemoryLedger extends Place implements ControlledLedger {
  readonly #setting: Setting;
  /** The place of the ledger: the limiter's, or this client's own with the scope `client`. */
  #kept: Place = this;

  constructor(setting: Setting, key: string) {
    super(key);
    this.#setting = setting;
  }

  get sync(): boolean {
    return true;
  }

  get source(): 'memory' {
    return 'memory';
  }

  get limits(): readonly Limit[] {
    const control = this.steering();
    return (!this.#setting.misnamed(control) && control.limits) || this.#setting.config.limits;
  }

  take(cost: Cost): Grant | undefined {
    const us = this.#setting.clockUs();
    const { repeats } = this.#setting.places;
    if (repeats?.of === this && repeats.take(us, cost)) return repeats.grant;
    this.#setting.places.called(us / 1000);
    const place = this.found();
    const ledger = this.reopened(place, us);
    if (!ledger) return undefined;
    const instant = instantOf(ledger, us);
    if (!takeNow(ledger, instant, cost)) return undefined;
    place.ledger = ledger;
    closeLedger(ledger, instant);
    const grant: Grant = { cost, moment: Math.ceil(us / 1000), epoch: ledger.epoch, source: 'memory' };
    this.#setting.places.repeats = new Repeats(this, ledger, instant, us, grant);
    return grant;
  }

  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void {
    this.onLedger(reply, (ledger, instant, us) => {
      moveUp(ledger, instant);
      return { now: us / 1000, ...reserve(ledger, instant, this.#setting.config.clientId, request) };
    });
  }

  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void {
    // Each limiter object counts its sequence from 1, so two of the same client differ here.
    const known = this.#setting.places.refundsOf(this);
    this.onLedger(reply, (ledger, instant) => refund(ledger, instant, known, refunds, sequence));
  }

  untilFree(permits: readonly number[]): number[] | undefined {
    const us = this.#setting.clockUs();
    const ledger = this.reopened(this.found(), us);
    return ledger && untilFree(ledger, instantOf(ledger, us), permits);
  }

  decideNow(cost: Cost): DecideReply | undefined {
    const us = this.#setting.serverUs();
    const place = this.found();
    const ledger = this.reopened(place, us);
    if (!ledger) return undefined;
    place.ledger = ledger;
    return decideReopened(ledger, instantOf(ledger, us), this.#setting.config.clientId, cost);
  }

  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void {
    this.onLedger(reply, (ledger, instant) =>
      decide(ledger, instant, this.#setting.config.clientId, cost, last),
    );
  }

  peek(reply: Reply<number[]>): void {
    const nothing = this.#setting.config.names.map(() => 0);
    const known = this.decideNow(nothing);
    if (known) reply(null, known.available);
    else this.decide(nothing, (error, decision) => reply(error, decision?.available));
  }

  setRate({ limits, ifAbsent, keepState }: RateChange, reply: Reply<boolean>): void {
    // Read before the control is looked up, as reading the time may drop an idle place.
    const us = this.#setting.serverUs();
    const control = this.steered();
    if (ifAbsent && control.limits) {
      reply(null, false);
      return;
    }
    storeRate(control, this.#setting.config.names, limits, keepState, this.found().ledger?.epoch ?? 0, us);
    this.onLedger(reply, () => true);
  }

  getRate(reply: Reply<Rate>): void {
    const control = this.steering();
    const { limits } = control;
    const wrong = this.#setting.misnamed(control);
    if (wrong) reply(new StoreError(this.#setting.config.name, wrong));
    else reply(null, { limits: limits ?? this.#setting.config.limits, stored: limits !== undefined });
  }

  pause(ms: number, reply: Reply<number>): void {
    const us = this.#setting.serverUs();
    reply(null, pause(this.steered(), ms, us));
  }

  forget({ rate }: { rate: boolean }, reply: Reply<void>): void {
    const us = this.#setting.serverUs();
    // The ledger is expired but kept: the next one gets a later epoch, even at the same time.
    const { ledger } = this.found();
    if (ledger) ledger.expires = 0;
    lift(this.steered(), rate, us);
    reply(null);
  }

  /** The place that holds the state of this ledger. */
  found(): Place {
    const { places, family, own = family } = this.#setting;
    if (this.#kept.family === undefined) this.#kept = places.of(own, this.key, this);
    return this.#kept;
  }

  /** The limiter's place. With the scope `client`, it holds the control that all clients share. */
  private shared(): Place {
    const { places, family, own } = this.#setting;
    return own === undefined ? this.found() : places.of(family, this.key);
  }

  private steering(): Control {
    return this.shared().control ?? unsteered;
  }

  private steered(): Control {
    const place = this.shared();
    place.control ??= noControl();
    return place.control;
  }

  /** The state at the server's time, if the fast path may use it. */
  private reopened(place: Place, us: number): LedgerState | undefined {
    const control = this.steering();
    const { config, places } = this.#setting;
    const { names, limits } = config;
    if (this.#setting.misnamed(control)) return undefined;
    return reopen(place.ledger, names, limits, us, control, places.lastEpoch, places.late);
  }

  private onLedger<T>(reply: Reply<T>, work: Work<T>): void {
    const us = this.#setting.serverUs();
    const control = this.steering();
    const wrong = this.#setting.misnamed(control);
    const { config, places } = this.#setting;
    const { name, names, limits } = config;
    if (wrong) {
      reply(new StoreError(name, wrong));
      return;
    }
    const place = this.found();
    const { ledger, instant } = openLedger(
      place.ledger,
      names,
      limits,
      us,
      control,
      places.lastEpoch,
      places.late,
      this.#setting.own !== undefined,
    );
    place.ledger = ledger;
    const answer = work(ledger, instant, us);
    closeLedger(ledger, instant);
    reply(null, answer);
  }
}
