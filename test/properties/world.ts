import type { Cost } from '../../src/limits/cost.ts';
import type { Refund } from '../../src/stores/store.ts';
import type { LimitSpec } from './specs.ts';
import type { History } from './steps.ts';

/** Requests that were granted or booked, and not given back. */
export interface Grant {
  client: number;
  cost: Cost;
  count: number;
  /** The granted moment by the server's clock, as the client was told. */
  moment: number;
  /** The same moment by a clock that stands still until the server's has caught up after a step: the ledger's. */
  ledgerMoment: number;
  /** When the client may go, in microseconds by the server's clock: its moment, or before that when it is granted at once. */
  serverUs: number;
  /** The same in true time: if the server's clock had never been set back. */
  trueUs: number;
  /** How often the ledger had seen the server's clock go back. */
  era: number;
  /** What a refund must carry; 0 where there is no giving back. */
  epoch: number;
  /** How often the rate had changed, or all been forgotten. */
  phase: number;
  /** How often the line had moved up. */
  moves: number;
  /** For each limit, whether it counts among what is granted under the rate in force. */
  counts: readonly boolean[];
  /** When a change of the rate has made it void, in milliseconds by the ledger's clock: the client is to hear of it. */
  voidSince: number;
  /** Whether it took over a moment that was given back, before others that were booked already. */
  takenOver: boolean;
  /** When the pause ends, in true time, that the grant was made in. */
  pausedUntilUs: number;
}

/** A history on its way: what time it is, what stands, and what each client knows. */
export interface World {
  serverUs: number;
  /** Milliseconds by which the server's clock has been set back. */
  setBack: number;
  /** Milliseconds by which the ledger's clock is ahead of the server's; the latest time it has seen; see {@link Grant.era}. */
  shift: number;
  seen: number;
  era: number;
  standing: Grant[];
  /** What no longer counts, though a client may give it back all the same. */
  gone: Grant[];
  /** The epoch of the last reply, and the era and the phase that it was of: the line may move up within them. */
  last: { epoch: number; era: number; phase: number };
  own: readonly LimitSpec[];
  stored: readonly LimitSpec[] | undefined;
  /** See {@link Grant.phase}. */
  phase: number;
  /** See {@link Grant.moves}. */
  moves: number;
  /** The end of the longest pause, in true time: microseconds. */
  pausedUntilUs: number;
  clients: Map<number, Known>;
  /** What is void, though its client was told that it stands; for clients who share a limit. */
  missed: string | undefined;
}

/** What a client knows: the epoch, its last refunds, and when it made them, in true time. */
interface Known {
  epoch: number;
  sequence: number;
  last: readonly Refund[];
  lastUs: number;
}

export function createWorld({ startUs, limits }: History): World {
  return {
    ...{ serverUs: startUs, setBack: 0, shift: 0, seen: 0, era: 0 },
    last: { epoch: 0, era: 0, phase: 0 },
    ...{ standing: [], gone: [], own: limits, stored: undefined, phase: 0, moves: 0, pausedUntilUs: 0 },
    ...{ clients: new Map(), missed: undefined },
  };
}

/** The limits in force. */
export function inForce({ own, stored }: World): readonly LimitSpec[] {
  return stored ?? own;
}

/** Microseconds of true time. */
export function trueNow({ serverUs, setBack }: World): number {
  return serverUs + setBack * 1000;
}

/** Milliseconds by the ledger's clock. */
export function ledgerNow({ serverUs, shift }: World): number {
  return Math.floor(serverUs / 1000) + shift;
}

/** The clock that the design promises the ledger to have: it never goes back, and nobody waits for it to catch up. */
export function followClock(world: World): void {
  const now = Math.floor(world.serverUs / 1000) + world.shift;
  if (now < world.seen) {
    world.shift += world.seen - now;
    world.era++;
  } else world.seen = now;
}

/** What the client knows, to be changed. */
export function knownBy(world: World, client: number): Known {
  const known = world.clients.get(client) ?? { epoch: 0, sequence: 0, last: [], lastUs: 0 };
  world.clients.set(client, known);
  return known;
}
