import { StoreError } from '../../errors.ts';
import { otherNames } from '../limitNames.ts';
import type { Grant, LedgerConfig, Reply, SteeredLedger } from '../store.ts';
import { type Control, lift, noControl, pause, storeRate } from './control.ts';
import { decide } from './decide.ts';
import {
  availableNow,
  closeLedger,
  type Instant,
  instantOf,
  type LedgerState,
  openLedger,
} from './ledgerState.ts';
import { moveUp } from './moveUp.ts';
import type { Place, Places } from './places.ts';
import { refund, rememberSequence } from './refund.ts';
import { reserve } from './reserve.ts';
import { reopen, takeNow } from './take.ts';

/** The control of a limiter that nobody steers: never changed. */
const unsteered: Control = noControl();

type Work<T> = (ledger: LedgerState, instant: Instant, us: number) => T;

/** The ledger of one limiter: each operation opens the state at the clock's time, works on it, and closes it. */
export function openMemoryLedger(
  { name, key, prefix, scope, clientId, names, limits, clock }: LedgerConfig,
  origin: number,
  places: Places,
): SteeredLedger {
  // Where each client has the limit for itself, all share its control, which lies in the limiter's own place.
  let limiter: Place | undefined;
  let own: Place | undefined;
  let line: string | undefined;
  let last: Grant | undefined;

  function placeOfLimiter(): Place {
    if (!limiter?.isKept) limiter = places.of(JSON.stringify([prefix, name, key]));
    return limiter;
  }
  function place(): Place {
    if (scope !== 'client') return placeOfLimiter();
    if (!own?.isKept) own = places.of(JSON.stringify([prefix, name, key, clientId]));
    return own;
  }
  /** The sequence counts from 1 in every limiter, of the same client too. */
  function lineName(): string {
    line ??= `${clientId}:${globalThis.crypto.randomUUID()}`;
    return line;
  }
  function serverUs(): number {
    const us = Math.round((origin + clock.now()) * 1000);
    places.called(us / 1000);
    return us;
  }
  const control = () => placeOfLimiter().control ?? unsteered;
  const controlled = () => {
    const here = placeOfLimiter();
    here.control ??= noControl();
    return here.control;
  };
  /** Under a stored rate of other names than ours nothing can be done. */
  const misnamed = ({ limits, names: stored }: Control) => limits && otherNames(names, stored);

  /** Opens the state at the clock's time, works on it, and closes it. */
  function onLedger<T>(reply: Reply<T>, work: Work<T>): void {
    onLedgerAt(serverUs(), reply, work);
  }
  function onLedgerAt<T>(us: number, reply: Reply<T>, work: Work<T>): void {
    const inForce = control();
    const wrong = misnamed(inForce);
    if (wrong) {
      reply(new StoreError(name, wrong));
      return;
    }
    const here = place();
    const { ledger, instant } = openLedger(here.ledger, names, limits, us, inForce, places.lastEpoch);
    here.ledger = ledger;
    const answer = work(ledger, instant, us);
    closeLedger(ledger, instant);
    reply(null, answer);
  }

  return {
    sync: true,
    source: 'memory',
    get limits() {
      const inForce = control();
      return inForce.limits && !misnamed(inForce) ? inForce.limits : limits;
    },
    take(cost) {
      const us = serverUs();
      const inForce = control();
      const { ledger } = place();
      if (!ledger || misnamed(inForce) || !reopen(ledger, names, limits, us, inForce)) return undefined;
      const instant = instantOf(ledger, us);
      if (!takeNow(ledger, instant, cost)) return undefined;
      closeLedger(ledger, instant);
      const moment = Math.ceil(us / 1000);
      if (last?.moment !== moment || last.epoch !== ledger.epoch || last.cost !== cost)
        last = { cost, moment, epoch: ledger.epoch, source: 'memory' };
      return last;
    },
    reserve(request, reply) {
      onLedger(reply, (ledger, instant, us) => {
        moveUp(ledger, instant.now, us);
        return { now: us / 1000, ...reserve(ledger, instant, clientId, request) };
      });
    },
    refund(refunds, sequence, reply) {
      onLedger(reply, (ledger, instant) => {
        const answer = refund(ledger, instant, lineName(), refunds, sequence);
        if (answer.restored) rememberSequence(ledger, instant, lineName(), sequence);
        return answer;
      });
    },
    decide(cost, reply, last) {
      const us = serverUs();
      const { ledger } = place();
      const inForce = control();
      if (ledger && !misnamed(inForce) && reopen(ledger, names, limits, us, inForce)) {
        const instant = instantOf(ledger, us);
        const decision = decide(ledger, instant, clientId, cost, last);
        closeLedger(ledger, instant);
        reply(null, decision);
      } else onLedgerAt(us, reply, (opened, instant) => decide(opened, instant, clientId, cost, last));
    },
    peek(reply) {
      onLedger(reply, availableNow);
    },
    setRate({ limits: rate, ifNone, keepState }, reply) {
      // Before the control is looked up, as a call may drop one that says nothing yet.
      const us = serverUs();
      const inForce = controlled();
      if (ifNone && inForce.limits) {
        reply(null, false);
        return;
      }
      storeRate(inForce, names, rate, keepState, place().ledger?.epoch ?? 0, us);
      onLedger(reply, () => true);
    },
    getRate(reply) {
      const inForce = control();
      const wrong = misnamed(inForce);
      if (wrong) reply(new StoreError(name, wrong));
      else reply(null, { limits: inForce.limits ?? limits, stored: inForce.limits !== undefined });
    },
    pause(ms, reply) {
      const us = serverUs();
      reply(null, pause(controlled(), ms, us));
    },
    forget({ rate }, reply) {
      const us = serverUs();
      // Over, but its epoch is known: whatever comes next is of a later one, at the same time too.
      const { ledger } = place();
      if (ledger) ledger.expires = 0;
      lift(controlled(), rate, us);
      reply(null);
    },
  };
}
