import type { Cost } from '../../src/limits/cost.ts';
import type { Refund } from '../../src/stores/store.ts';
import type { LimitSpec } from './specs.ts';
import type { History } from './steps.ts';

/** Requests that were granted or reserved, and not refunded. */
export interface Grant {
  client: number;
  cost: Cost;
  count: number;
  /** The granted moment by the server's clock, as in the reply. */
  moment: number;
  /** The same moment by the ledger's clock, which stops after a step back until the server's clock has caught up. */
  ledgerMoment: number;
  /** When the request goes ahead, in microseconds by the server's clock: the moment, or earlier if it is granted at once. */
  serverUs: number;
  /** The same in true time, by a clock that is never set back. */
  trueUs: number;
  /** The number of steps back that the ledger had seen. */
  era: number;
  /** The epoch of a refund; 0 if the grant cannot be refunded. */
  epoch: number;
  /** The number of changes of the rate and resets before it. */
  phase: number;
  /** How often reservations had moved up before it. */
  moves: number;
  /** For each limit, whether the grant counts under the rate in force. */
  counts: readonly boolean[];
  /** When a change of the rate voided it, in milliseconds by the ledger's clock. */
  voidSince: number;
  /** Whether it reuses a refunded moment before other reservations. */
  takenOver: boolean;
  /** The end, in true time, of the pause in which it was granted. */
  pausedUntilUs: number;
}

/** The state of a replayed history: the time, the grants, and each client's knowledge. */
export interface World {
  serverUs: number;
  /** Milliseconds by which the server's clock has been set back. */
  setBack: number;
  /** By how many ms the ledger's clock is ahead of the server's; the latest time that it has seen; see {@link Grant.era}. */
  shift: number;
  seen: number;
  era: number;
  grants: Grant[];
  /** Grants that no longer count, though a client may still refund them. */
  voided: Grant[];
  /** The epoch of the last reply, and its phase. */
  last: { epoch: number; phase: number };
  own: readonly LimitSpec[];
  stored: readonly LimitSpec[] | undefined;
  /** See {@link Grant.phase}. */
  phase: number;
  /** See {@link Grant.moves}. */
  moves: number;
  /** When the rate or a pause was last changed, in milliseconds by the ledger's clock. */
  steeredAt: number;
  /** The end of the longest pause, in microseconds of true time. */
  pausedUntilUs: number;
  clients: Map<number, Known>;
  /** Why a client did not learn in time that a reservation is void. */
  fault: string | undefined;
}

/** A client's knowledge: the epoch, its last reply, its last refunds, and when it sent them, in true time. */
interface Known {
  epoch: number;
  repliedUs: number;
  sequence: number;
  last: readonly Refund[];
  lastUs: number;
}

export function createWorld({ startUs, limits }: History): World {
  return {
    ...{ serverUs: startUs, setBack: 0, shift: 0, seen: 0, era: 0 },
    last: { epoch: 0, phase: 0 },
    ...{
      grants: [],
      voided: [],
      own: limits,
      stored: undefined,
      phase: 0,
      moves: 0,
      steeredAt: Infinity,
      pausedUntilUs: 0,
    },
    ...{ clients: new Map(), fault: undefined },
  };
}

export function inForce({ own, stored }: World): readonly LimitSpec[] {
  return stored ?? own;
}

/** True time in microseconds. */
export function trueNow({ serverUs, setBack }: World): number {
  return serverUs + setBack * 1000;
}

/** The ledger's clock in milliseconds. */
export function ledgerNow({ serverUs, shift }: World): number {
  return Math.floor(serverUs / 1000) + shift;
}

/** Moves the ledger's clock, which never goes back and continues at once after a step back. */
export function followClock(world: World): void {
  const now = Math.floor(world.serverUs / 1000) + world.shift;
  if (now < world.seen) {
    world.shift += world.seen - now;
    world.era++;
  } else world.seen = now;
}

export function knownBy(world: World, client: number): Known {
  const known = world.clients.get(client) ?? { epoch: 0, repliedUs: 0, sequence: 0, last: [], lastUs: 0 };
  world.clients.set(client, known);
  return known;
}
