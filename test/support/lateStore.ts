import type { Store } from '../../src/index.ts';
import type { ControlledLedger, PermitSource } from '../../src/stores/store.ts';
import { ledgerWith } from './ledgerWith.ts';

/** A store that replies a turn of the event loop later than another one, like a server; it may stand in for Redis. */
export function lateStore(store: Store, source: PermitSource = 'memory'): Store {
  return {
    open(config) {
      const ledger = store.open(config);
      return ledgerWith<ControlledLedger, Partial<ControlledLedger>>(ledger, {
        source,
        sync: false,
        reserve: (request, reply) =>
          ledger.reserve(request, (...answer) => void setImmediate(() => reply(...answer))),
        refund: (refunds, sequence, reply) =>
          ledger.refund(refunds, sequence, (...answer) => void setImmediate(() => reply(...answer))),
      });
    },
  };
}

/** Resolves when the calls of a late store have been answered. */
export async function answered(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
}
