import type { ClientId, Owner, Snapshot } from './snapshot.ts';
import type { VirtualRedis } from './virtualRedis.ts';

/** A life in progress. */
export interface World {
  readonly server: VirtualRedis;
  /** Epoch microseconds. */
  us: number;
  /** The keys before the current step. */
  before: Snapshot;
  /** Logs that may end before their grants, by a command not yet repaired by a call of ours. */
  readonly toldToEnd: Set<Owner>;
  /** The targets of refunds: our calls, and the moments of their grants. */
  readonly granted: Readonly<Record<ClientId, { bytes: string; moment: number }[]>>;
  calls: number;
  refunds: number;
}
