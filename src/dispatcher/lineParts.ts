import type { NamedLimits } from '../limits/cost.ts';
import type { Ledger } from '../stores/store.ts';
import type { FairShare } from './fairShare.ts';
import type { Queue } from './queue.ts';
import type { RefusalCache } from './refusalCache.ts';
import type { Reservations } from './reservations.ts';
import type { Transit } from './transit.ts';

/** What a line is put together of, for those who work on several of its parts. */
export interface LineParts {
  name: string;
  named: NamedLimits;
  ledger: Ledger;
  queue: Queue;
  reservations: Reservations;
  fairShare: FairShare;
  refusals: RefusalCache;
  transit: Transit;
}
