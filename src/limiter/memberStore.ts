import type { LedgerConfig, Reply, SteeredLedger, Store } from '../stores/store.ts';

/**
 * The store of one limiter of a group: its ledger lies under the group's name and the key.
 *
 * `use` is told before anything is asked for, and may refuse that with an error. What is given back is never refused.
 */
export function memberStore(store: Store, name: string, key: string, use: () => Error | undefined): Store {
  return { open: (config) => openMemberLedger(store, { ...config, name, key }, use) };
}

function openMemberLedger(store: Store, config: LedgerConfig, use: () => Error | undefined): SteeredLedger {
  const ledger = store.open(config);
  function used<T>(reply: Reply<T>, call: () => void): void {
    const error = use();
    if (error) reply(error);
    else call();
  }
  return {
    get sync() {
      return ledger.sync;
    },
    get source() {
      return ledger.source;
    },
    get limits() {
      return ledger.limits;
    },
    reserve: (request, reply) => used(reply, () => ledger.reserve(request, reply)),
    refund(refunds, sequence, reply) {
      use();
      ledger.refund(refunds, sequence, reply);
    },
    decide: (cost, reply, last) => used(reply, () => ledger.decide(cost, reply, last)),
    peek: (reply) => used(reply, () => ledger.peek(reply)),
    setRate: (change, reply) => used(reply, () => ledger.setRate(change, reply)),
    getRate: (reply) => used(reply, () => ledger.getRate(reply)),
    pause: (ms, reply) => used(reply, () => ledger.pause(ms, reply)),
    forget: (what, reply) => used(reply, () => ledger.forget(what, reply)),
  };
}
