import type { Store } from '../../src/index.ts';
import type { ControlledLedger, PermitSource } from '../../src/stores/store.ts';
import { ledgerWith } from './ledgerWith.ts';

/** A store that answers a turn of the event loop later than another one, as a server would; it may pass for Redis. */
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

/** Resolves when what was asked of a late store has been answered. */
export async function answered(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
}
