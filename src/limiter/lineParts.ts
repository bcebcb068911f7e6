import type { Ledger } from '../stores/store.ts';
import type { Bookings } from './bookings.ts';
import type { NamedLimits } from './cost.ts';
import type { Denial } from './denial.ts';
import type { Queue } from './queue.ts';
import type { Share } from './share.ts';
import type { Transit } from './transit.ts';

/** What a line is put together of, for those who work on several of its parts. */
export interface LineParts {
  name: string;
  named: NamedLimits;
  ledger: Ledger;
  queue: Queue;
  bookings: Bookings;
  share: Share;
  denial: Denial;
  transit: Transit;
}
