import type { Clock } from '../clock.ts';
import type { Cost } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';

/** Who granted a permit: Redis, a store in this process, or the fallback while Redis was away. */
export type PermitSource = 'redis' | 'memory' | 'fallback';

/** Requests that stand next to each other and ask for the same. */
export interface Run {
  count: number;
  cost: Cost;
  /** The longest wait in milliseconds: 0 for none, Infinity for any. */
  maxWait: number;
}

/** What a process asks for in one call. */
export interface ReserveRequest {
  runs: readonly Run[];
  /** How far ahead the process would like to book, in milliseconds of the limit's full rate, before the contenders share it. */
  horizon: number;
  /** What it holds booked, in milliseconds of the limit's full rate. */
  held: number;
  /** The epoch it knows, or 0. */
  epoch: number;
  /** The last moment that it holds booked: nothing that this call asks for is granted or booked before it. */
  last?: LastMoment;
}

/** The last moment that a client holds booked, and the epoch that it was booked under. */
export interface LastMoment {
  readonly moment: number;
  readonly epoch: number;
  /** Who booked it, by whose clock that is; and when it comes by the line's. */
  readonly source?: PermitSource;
  readonly due?: number;
}

/** What became of `count` requests, in the order of the request's runs. */
export interface Segment {
  count: number;
  /** Milliseconds until they are granted, from the receipt of the reply; or one of the outcomes below. */
  delay: number;
  /** For `refused`: the wait in milliseconds that they would have had. */
  retryAfter: number;
}

/** Delays of a {@link Segment} that are none. */
export const outcome = {
  /** Not booked now: the requests stay in the line of their process, which asks again. */
  left: -1,
  /** More than the limit can ever grant. */
  never: -2,
  /** The wait would be longer than the request allows. */
  refused: -3,
} as const;

export interface ReserveReply {
  /** Epoch milliseconds by the store's clock, fractional. */
  now: number;
  epoch: number;
  /** Clients that hold or wait for a reservation, the asking one included. */
  contenders: number;
  segments: Segment[];
  /** A store that cannot book says when the head of the line may ask again, in milliseconds. */
  retryAfter?: number | undefined;
  /** While the fleet pauses: milliseconds until that ends. What is booked before then no longer stands. */
  paused?: number | undefined;
  /** Milliseconds from now from which on nothing that was booked under an older epoch stands; left out where all of it does. */
  standing?: number | undefined;
}

/** The moment of a {@link Refund} that is taken from whatever was granted last, up to now. */
export const newestGrants = -1;

/** The moment of a {@link Refund} that is none: permits that were used without being granted, charged as soon as the limit allows. */
export const debt = -2;

/** Permits given back: `count` requests of a cost, from one moment. */
export interface Refund {
  /** The granted moment, in epoch milliseconds by the store's clock, or {@link newestGrants}, or {@link debt}. */
  moment: number;
  epoch: number;
  /** Who granted it. */
  source: PermitSource;
  cost: Cost;
  count: number;
}

/** One or more requests that were granted at the same moment. Shared by those who got it: never changed. */
export interface Grant {
  readonly cost: Cost;
  /** Epoch milliseconds by the store's clock, whole. */
  readonly moment: number;
  /** When that moment comes by the line's clock, as far as the reply told; a process that was busy hands out later. */
  readonly due?: number;
  readonly epoch: number;
  readonly source: PermitSource;
}

/** What a store has made of refunds. A store that does not know leaves it out. */
export interface RefundReply {
  /** For each refund, whether it gave anything back to the limit: what has come back by itself does not count. */
  restored?: readonly boolean[];
}

/** Whether a limiter granted at once, and what is left. */
export interface DecideReply {
  granted: boolean;
  /** Permits left at once, of each limit. */
  available: number[];
  /** Milliseconds until the cost could be granted; 0 when it is. */
  retryAfter: number;
  /** Milliseconds until everything granted and booked has come back. */
  resetAfter: number;
  /** Of several limits, the index of the one that refuses the cost for longest, if any of them does. */
  refusing?: number | undefined;
}

/** Called once, perhaps before the call that was given it returns. */
export type Reply<T> = (error: Error | null, reply?: T) => void;

/** What a limiter tells a store of itself. */
export interface LedgerConfig {
  name: string;
  /** For a limiter of a group, its key: nothing is shared with a limiter without one, or with another one. */
  key?: string | undefined;
  prefix: string;
  /** Whether the clients share the limit, or each has the whole of it; they share it by default. */
  scope?: 'fleet' | 'client' | undefined;
  clientId: string;
  /** The names of the limits; a limiter of one limit has one, the empty string. */
  names: readonly string[];
  limits: readonly Limit[];
  clock: Clock;
  /** Told when a fallback takes the store's place, and when the store serves again. */
  onService?: ((change: ServiceChange) => void) | undefined;
}

/** Who serves from now on: the fallback, and why; or the store again. */
export type ServiceChange = { type: 'fallback'; error: Error } | { type: 'recovered' };

/** The record of what one limiter has granted, in a store. */
export interface Ledger {
  /** Whether replies come before the call returns. */
  readonly sync: boolean;
  /** What the permits that it grants name as their source. */
  readonly source: PermitSource;
  /** The limits in force, as far as they are known here: a rate that is stored may be another one by now. */
  readonly limits: readonly Limit[];
  /**
   * The quick way of a store that answers at once: grants one request of a client that has nothing booked, where nothing stands
   * in its way. Undefined where `reserve` has to find out more; then nothing has been granted.
   */
  take?(cost: Cost): Grant | undefined;
  /** Books or grants what can be had. */
  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void;
  /** Takes grants and reservations back. One call at a time: the sequence makes a call that is sent twice count once. */
  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void;
  /** Takes the cost if it is there at once, and behind the last moment that the client holds; says what is left. */
  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void;
  /** The permits that could be granted at once, of each limit. */
  peek(reply: Reply<number[]>): void;
}

/** The rate in force, and whether it is stored for the whole fleet. */
export interface Rate {
  limits: readonly Limit[];
  stored: boolean;
}

/** How a rate is stored. */
export interface RateChange {
  limits: readonly Limit[];
  /** Whether only where none is stored yet. */
  ifNone: boolean;
  /** Whether what is granted goes on counting. */
  keepState: boolean;
}

/** What steers a limit for the whole fleet. */
export interface Steering {
  /** Stores a rate, which overrides every client's own: answers whether it did. */
  setRate(change: RateChange, reply: Reply<boolean>): void;
  getRate(reply: Reply<Rate>): void;
  /** Grants nothing for so many milliseconds, unless a pause ends later: answers how long it lasts. */
  pause(ms: number, reply: Reply<number>): void;
  /** Forgets what was granted and booked, and lifts a pause; the stored rate too, where that is asked for. */
  forget(what: { rate: boolean }, reply: Reply<void>): void;
}

/** A ledger that can be steered. */
export type SteeredLedger = Ledger & Steering;

declare const storeType: unique symbol;

/** Where limiters keep what they have granted: `memoryStore()` in one process, Redis for a fleet. */
export interface Store {
  readonly [storeType]?: true;
}

/** @internal What the published types leave out. */
export interface Store {
  open(config: LedgerConfig): SteeredLedger;
}
