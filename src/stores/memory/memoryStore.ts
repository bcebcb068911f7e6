import type { LedgerConfig, SteeredLedger, Store } from '../store.ts';
import { type Control, isIdle, lift, noControl, pause, storeRate } from './control.ts';
import { decide } from './decide.ts';
import { availableNow, closeLedger, type LedgerState, openLedger } from './ledgerState.ts';
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
  const serverUs = () => Math.round((origin + clock.now()) * 1000);
  const opened = () => {
    const us = serverUs();
    sweep(us / 1000);
    const control = controls.get(limiter) ?? noControl();
    const { ledger, instant } = openLedger(ledgers.get(identity), names, limits, us, control);
    ledgers.set(identity, ledger);
    return { ledger, instant, us };
  };
  const controlled = () => {
    const control = controls.get(limiter) ?? noControl();
    controls.set(limiter, control);
    return control;
  };

  return {
    sync: true,
    source: 'memory',
    get limits() {
      return controls.get(limiter)?.limits ?? limits;
    },
    reserve(request, reply) {
      const { ledger, instant, us } = opened();
      const answer = reserve(ledger, instant, clientId, request);
      closeLedger(ledger, instant);
      reply(null, { now: us / 1000, ...answer });
    },
    refund(refunds, sequence, reply) {
      const { ledger, instant } = opened();
      const fresh = refund(ledger, instant, line, refunds, sequence);
      if (fresh) rememberSequence(ledger, instant, line, refunds, sequence);
      closeLedger(ledger, instant);
      reply(null);
    },
    decide(cost, reply) {
      const { ledger, instant } = opened();
      const decision = decide(ledger, instant, clientId, cost);
      closeLedger(ledger, instant);
      reply(null, decision);
    },
    peek(reply) {
      const { ledger, instant } = opened();
      const available = availableNow(ledger, instant);
      closeLedger(ledger, instant);
      reply(null, available);
    },
    setRate({ limits: rate, ifNone, keepState }, reply) {
      const control = controlled();
      const free = !ifNone || control.limits === undefined;
      if (free) {
        storeRate(control, rate, keepState, ledgers.get(identity)?.epoch ?? 0, serverUs());
        const { ledger, instant } = opened();
        closeLedger(ledger, instant);
      }
      reply(null, free);
    },
    getRate(reply) {
      const stored = controls.get(limiter)?.limits;
      reply(null, { limits: stored ?? limits, stored: stored !== undefined });
    },
    pause(ms, reply) {
      reply(null, pause(controlled(), ms, serverUs()));
    },
    forget({ rate }, reply) {
      // Over, but its epoch is known: whatever comes next is of a later one, at the same time too.
      const ledger = ledgers.get(identity);
      if (ledger) ledger.expires = 0;
      lift(controlled(), rate);
      reply(null);
    },
  };
}
