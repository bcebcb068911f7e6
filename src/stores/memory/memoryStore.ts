import { StoreError } from '../../errors.ts';
import type { LedgerConfig, Reply, SteeredLedger, Store } from '../store.ts';
import { otherNames } from '../storedNames.ts';
import { type Control, isIdle, lift, noControl, pause, storeRate } from './control.ts';
import { decide } from './decide.ts';
import { availableNow, closeLedger, type Instant, type LedgerState, openLedger } from './ledgerState.ts';
import { moveUp } from './moveUp.ts';
import { refund, rememberSequence } from './refund.ts';
import { reserve } from './reserve.ts';

/** So many calls pass between two looks for limiters that may be forgotten. */
const sweepEvery = 1024;

/**
 * A store inside this process: limiters that are given the same one, and the same name, share their limit.
 *
 * It answers synchronously. A limiter without `redis` and `store` has one of its own.
 *
 * @example
 * const store = memoryStore();
 * const a = new RateLimiter({ name: 'api', limit, store });
 * const b = new RateLimiter({ name: 'api', limit, store }); // the two share one limit
 */
export function memoryStore(): Store {
  const kept: Kept = { ledgers: new Map(), controls: new Map() };
  let calls = 0;

  /** Drops what says nothing any more, now and then. */
  function sweep(serverMs: number): void {
    if (++calls % sweepEvery !== 0) return;
    for (const [key, { expires, shift }] of kept.ledgers)
      if (expires <= serverMs + shift) kept.ledgers.delete(key);
    for (const [key, control] of kept.controls) if (isIdle(control, serverMs)) kept.controls.delete(key);
  }

  let origin: number | undefined;
  return {
    open(config) {
      // One zero for all: a limiter that is made after a step of the wall clock shares the time of those before it.
      origin ??= config.clock.origin;
      return openMemoryLedger(config, origin, kept, sweep);
    },
  };
}

/** All that a store keeps. */
interface Kept {
  ledgers: Map<string, LedgerState>;
  controls: Map<string, Control>;
}

/** The ledger of one limiter: each operation opens the state at the clock's time, works on it, and closes it. */
function openMemoryLedger(
  { name, key, prefix, scope, clientId, names, limits, clock }: LedgerConfig,
  origin: number,
  { ledgers, controls }: Kept,
  sweep: (serverMs: number) => void,
): SteeredLedger {
  const limiter = JSON.stringify([prefix, name, key]);
  const identity = JSON.stringify([limiter, scope === 'client' ? clientId : undefined]);
  // The sequence counts from 1 in every limiter, of the same client too.
  const line = `${clientId}:${globalThis.crypto.randomUUID()}`;
  const serverUs = () => {
    const us = Math.round((origin + clock.now()) * 1000);
    sweep(us / 1000);
    return us;
  };
  const control = () => controls.get(limiter) ?? noControl();
  const controlled = () => {
    const kept = control();
    controls.set(limiter, kept);
    return kept;
  };
  /** Under a stored rate of other names than ours nothing can be done. */
  const misnamed = ({ limits, names: stored }: Control) => limits && otherNames(names, stored);

  /** Opens the state at the clock's time, works on it, and closes it. */
  function onLedger<T>(
    reply: Reply<T>,
    work: (ledger: LedgerState, instant: Instant, us: number) => T,
  ): void {
    const us = serverUs();
    const inForce = control();
    const wrong = misnamed(inForce);
    if (wrong) {
      reply(new StoreError(name, wrong));
      return;
    }
    const { ledger, instant } = openLedger(ledgers.get(identity), names, limits, us, inForce);
    ledgers.set(identity, ledger);
    const answer = work(ledger, instant, us);
    closeLedger(ledger, instant);
    reply(null, answer);
  }

  return {
    sync: true,
    source: 'memory',
    get limits() {
      const inForce = controls.get(limiter);
      return inForce?.limits && !misnamed(inForce) ? inForce.limits : limits;
    },
    reserve(request, reply) {
      onLedger(reply, (ledger, instant, us) => {
        moveUp(ledger, instant.now, us);
        return { now: us / 1000, ...reserve(ledger, instant, clientId, request) };
      });
    },
    refund(refunds, sequence, reply) {
      onLedger(reply, (ledger, instant) => {
        const answer = refund(ledger, instant, line, refunds, sequence);
        if (answer.restored) rememberSequence(ledger, instant, line, refunds, sequence);
        return answer;
      });
    },
    decide(cost, reply, last) {
      onLedger(reply, (ledger, instant) => decide(ledger, instant, clientId, cost, last));
    },
    peek(reply) {
      onLedger(reply, availableNow);
    },
    setRate({ limits: rate, ifNone, keepState }, reply) {
      const inForce = controlled();
      if (ifNone && inForce.limits) {
        reply(null, false);
        return;
      }
      storeRate(inForce, names, rate, keepState, ledgers.get(identity)?.epoch ?? 0, serverUs());
      onLedger(reply, () => true);
    },
    getRate(reply) {
      const inForce = control();
      const wrong = misnamed(inForce);
      if (wrong) reply(new StoreError(name, wrong));
      else reply(null, { limits: inForce.limits ?? limits, stored: inForce.limits !== undefined });
    },
    pause(ms, reply) {
      reply(null, pause(controlled(), ms, serverUs()));
    },
    forget({ rate }, reply) {
      // Over, but its epoch is known: whatever comes next is of a later one, at the same time too.
      const ledger = ledgers.get(identity);
      if (ledger) ledger.expires = 0;
      lift(controlled(), rate, serverUs());
      reply(null);
    },
  };
}
