import type { Ledger, LedgerConfig, Store } from '../stores/store.ts';

/**
 * The store of one limiter of a group: its ledger lies under the group's name and the key.
 *
 * `use` is told before anything is asked for, and may refuse that with an error. What is given back is never refused.
 */
export function memberStore(store: Store, name: string, key: string, use: () => Error | undefined): Store {
  return { open: (config) => openMemberLedger(store, { ...config, name, key }, use) };
}

function openMemberLedger(store: Store, config: LedgerConfig, use: () => Error | undefined): Ledger {
  const ledger = store.open(config);
  return {
    get sync() {
      return ledger.sync;
    },
    get source() {
      return ledger.source;
    },
    reserve(request, reply) {
      const error = use();
      if (error) reply(error);
      else ledger.reserve(request, reply);
    },
    refund(refunds, sequence, reply) {
      use();
      ledger.refund(refunds, sequence, reply);
    },
    decide(cost, reply) {
      const error = use();
      if (error) reply(error);
      else ledger.decide(cost, reply);
    },
    peek(reply) {
      const error = use();
      if (error) reply(error);
      else ledger.peek(reply);
    },
  };
}
