import type { ClientId, Owner, Snapshot } from './snapshot.ts';
import type { VirtualRedis } from './virtualRedis.ts';

/** A life on its way. */
export interface World {
  readonly server: VirtualRedis;
  /** Epoch microseconds. */
  us: number;
  /** The keys before the step that is under way. */
  before: Snapshot;
  /** Logs that may end before what they hold: somebody has told them to, and no call of ours has put it right yet. */
  readonly toldToEnd: Set<Owner>;
  /** What refunds name: calls of ours, and when they were granted. */
  readonly granted: Readonly<Record<ClientId, { bytes: string; moment: number }[]>>;
  calls: number;
  refunds: number;
}
