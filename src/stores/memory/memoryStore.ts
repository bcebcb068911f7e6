import { algebraOf } from '../../limits/states.ts';
import type { Ledger, LedgerConfig, Store } from '../store.ts';
import { decide } from './decide.ts';
import { closeLedger, type LedgerState, openLedger } from './ledgerState.ts';
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
  const ledgers = new Map<string, LedgerState>();
  let calls = 0;

  /** Drops the ledgers of which everything has come back, now and then. */
  function sweep(serverMs: number): void {
    if (++calls % sweepEvery !== 0) return;
    for (const [key, { expires, shift }] of ledgers) if (expires <= serverMs + shift) ledgers.delete(key);
  }

  let origin: number | undefined;
  return {
    open(config) {
      // One zero for all: a limiter that is made after a step of the wall clock shares the time of those before it.
      origin ??= config.clock.origin;
      return openMemoryLedger(config, origin, ledgers, sweep);
    },
  };
}

/** The ledger of one limiter: each operation opens the state at the clock's time, works on it, and closes it. */
function openMemoryLedger(
  { name, key, prefix, scope, clientId, names, limits, clock }: LedgerConfig,
  origin: number,
  ledgers: Map<string, LedgerState>,
  sweep: (serverMs: number) => void,
): Ledger {
  const identity = JSON.stringify([prefix, name, key, scope === 'client' ? clientId : undefined]);
  // The sequence counts from 1 in every limiter, of the same client too.
  const line = `${clientId}:${globalThis.crypto.randomUUID()}`;
  const serverUs = () => Math.round((origin + clock.now()) * 1000);
  const opened = () => {
    const us = serverUs();
    sweep(us / 1000);
    const { ledger, instant } = openLedger(ledgers.get(identity), names, limits, us);
    ledgers.set(identity, ledger);
    return { ledger, instant, us };
  };

  return {
    sync: true,
    source: 'memory',
    reserve(request, reply) {
      const { ledger, instant, us } = opened();
      const { contenders, segments } = reserve(ledger, instant, clientId, request);
      closeLedger(ledger, instant);
      reply(null, { now: us / 1000, epoch: ledger.epoch, contenders, segments });
    },
    refund(refunds, sequence, reply) {
      const { ledger, instant } = opened();
      const fresh = refund(ledger, instant, line, refunds, sequence);
      if (fresh) rememberSequence(ledger, instant, line, sequence);
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
      const available = ledger.limits.map((state) =>
        algebraOf(state).available(state, instant.now, instant.at),
      );
      closeLedger(ledger, instant);
      reply(null, available);
    },
  };
}
