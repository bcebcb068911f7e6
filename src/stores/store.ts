import type { Clock } from '../clock.ts';
import type { Cost } from '../limits/cost.ts';
import type { Limit } from '../limits/limit.ts';

/**
 * Milliseconds from a call to the first reservation that it can make void. Clients with waiting requests call more often, and so
 * receive the change before that moment.
 */
export const noticePeriod = 2000;

/**
 * A client counts as a contender, and windows stay paced, for this many milliseconds after its last reservation is due, or after
 * the call that it has to make before.
 */
export const contenderPeriod = 2000;

/** The store that granted a permit: Redis, a store in this process, or the fallback while Redis was unavailable. */
export type PermitSource = 'redis' | 'memory' | 'fallback';

/** Consecutive requests of the same cost and the same longest wait. */
export interface Run {
  /** Number of requests. */
  count: number;
  /** Permits of each limit that one request takes. */
  cost: Cost;
  /** The longest wait in milliseconds: 0 for none, Infinity for any. */
  maxWait: number;
}

/** The arguments of one reserve call. */
export interface ReserveRequest {
  /** The requests, in the order of the client's queue. */
  runs: readonly Run[];
  /** How far ahead the client would reserve if it were alone, in milliseconds of the limit's full rate. The contenders share it. */
  horizon: number;
  /** The permits that the client has already reserved, in milliseconds of the limit's full rate. */
  held: number;
  /** The epoch of the last reply, or 0. */
  epoch: number;
  /** The client's last reservation. No request of this call is granted or reserved before its moment. */
  last?: LastMoment;
  /**
   * Whether the requests of the call have the client's first reservations, and ask for earlier ones: their moments are before
   * {@link last}, and the client then refunds as many of those that it has. They never wait in order, or in turns.
   */
  earlier?: boolean;
  /** Whether all requests of the call have ended: a call that has had to wait for the connection is then made without them. */
  isObsolete?(this: ReserveRequest): boolean;
}

/** The moment of a client's last reservation, and the epoch in which it was made. */
export interface LastMoment {
  /** Epoch milliseconds by the store's clock. */
  readonly moment: number;
  readonly epoch: number;
  /** The store that made the reservation: a fallback has a clock of its own. */
  readonly source?: PermitSource;
  /** The same moment by the client's monotonic clock. */
  readonly due?: number;
}

/** The result of `count` requests. The segments of a reply follow the order of the call's runs. */
export interface Segment {
  /** Number of requests. */
  count: number;
  /** Milliseconds from the receipt of the reply until the requests are granted, or an {@link outcome} below 0. */
  delay: number;
  /** For `refused`: the wait in milliseconds that the requests would have had. */
  retryAfter: number;
}

/** Values of {@link Segment.delay} that are not delays. */
export const outcome = {
  /** Not reserved now: the requests stay in the client's queue, and the client asks again. */
  queued: -1,
  /** One request costs more than the limit can ever grant. */
  exceedsLimit: -2,
  /**
   * Only in the reply to requests that ask for earlier moments, where no request exceeds the limit: they get one if the client
   * refunds their reservations, and asks again.
   */
  movesUp: -2,
  /** The wait would be longer than the run's `maxWait`. */
  refused: -3,
} as const;

/** The result of one reserve call. */
export interface ReserveReply {
  /** The time of the call in epoch milliseconds by the store's clock, with a fraction. */
  now: number;
  /** Changes when reservations may have become void: see {@link voidAfter}. */
  epoch: number;
  /** Number of clients that have a reservation or wait for one, this client included. */
  contenders: number;
  segments: Segment[];
  /**
   * Milliseconds after which the client is to call again: for the first request of its queue, which stays queued without a
   * reservation, as the store cannot reserve it, or the clients wait in order or in turns; or, after grants, for its next requests,
   * if the client has had its part of what is free. 0 from a store that never reserves, if all requests are granted.
   */
  retryAfter?: number | undefined;
  /** Whether the client must not call before {@link retryAfter}, even if it refunds permits: contenders share those in turns. */
  inTurn?: boolean | undefined;
  /** Milliseconds of load that each contender may reserve, if that is more than its part of its own horizon. */
  share?: number | undefined;
  /** While the limit is paused: milliseconds until the pause ends. Reservations before its end are void. */
  paused?: number | undefined;
  /**
   * Reservations of older epochs are void if they are due this many milliseconds from now, or later. Undefined if all of
   * them hold.
   */
  voidAfter?: number | undefined;
  /** Whether the call waited before it was sent, as for a connection: it does not tell what a round trip takes. */
  hasWaited?: boolean | undefined;
}

/** A {@link Refund.moment}: the refund is taken from the newest grants up to now. */
export const newestGrants = -1;

/** A {@link Refund.moment}: permits that were used without a grant. They are charged at the first moment the limit allows. */
export const debt = -2;

/** Permits to return to the limit: those of `count` requests of one cost, granted or reserved at one moment. */
export interface Refund {
  /** The granted moment in epoch milliseconds by the store's clock, or {@link newestGrants}, or {@link debt}. */
  moment: number;
  epoch: number;
  /** The store that granted the permits. */
  source: PermitSource;
  cost: Cost;
  count: number;
}

/** The permits of a granted request. Requests that were granted at the same moment share one object, so it never changes. */
export interface Grant {
  readonly cost: Cost;
  /** The granted moment in whole epoch milliseconds by the store's clock. */
  readonly moment: number;
  /** The same moment by the client's monotonic clock, as computed from the reply. A busy process hands the permits out later. */
  readonly due?: number;
  readonly epoch: number;
  readonly source: PermitSource;
}

/** The result of a refund call. */
export interface RefundReply {
  /**
   * For each refund, whether it returned any permits: permits that the passing of time has restored already do not count.
   * Left out by a store that does not know.
   */
  restored?: readonly boolean[];
}

/** The result of a decide call. */
export interface DecideReply {
  granted: boolean;
  /** Permits that are available now, of each limit. */
  available: number[];
  /** Milliseconds until the cost could be granted; 0 if it was granted. */
  retryAfter: number;
  /** Milliseconds until all permits are available again. */
  resetAfter: number;
  /** Index of the limit with the longest wait for this cost; undefined if the cost was granted. */
  limiting?: number | undefined;
}

/** Receives an error or the reply: once, possibly before the call that it was passed to returns. */
export type Reply<T> = (error: Error | null, reply?: T) => void;

/** The configuration of a ledger. */
export interface LedgerConfig {
  /** The name of the limiter or of the group. */
  name: string;
  /** The key, for a limiter of a group: it shares no state with the limiters of other keys, nor with one without a key. */
  key?: string | undefined;
  prefix: string;
  /** 'fleet' (default): all clients share the limit. 'client': each client has the whole limit. */
  scope?: 'fleet' | 'client' | undefined;
  clientId: string;
  /** The names of the limits. A limiter of one limit has one name, the empty string. */
  names: readonly string[];
  limits: readonly Limit[];
  clock: Clock;
  /** Called when a fallback replaces the store, and when the store has recovered. */
  onServiceChange?: ((change: ServiceChange) => void) | undefined;
}

/** A fallback has replaced the store because of an error, or the store has recovered. */
export type ServiceChange = { type: 'fallback'; error: Error } | { type: 'recovered' };

/** The state of one limiter in a store: which permits are granted and reserved. */
export interface Ledger {
  /** Whether every call replies before it returns. */
  readonly sync: boolean;
  /** The source that grants of this ledger carry. */
  readonly source: PermitSource;
  /** The limits in force as of the last reply. Another client may have stored other limits since. */
  readonly limits: readonly Limit[];
  /** Whether every request that the limits can ever grant is granted at once, for now. */
  readonly unlimited?: boolean;
  /** Whether it holds a pause that a new ledger of the same limiter might not know of. */
  readonly isPaused?: boolean;
  /**
   * The fast path of a synchronous store: grants one request of a client that has no reservations, if its permits are
   * available and no rule beyond the limit itself applies. Returns undefined, and charges nothing, if `reserve` has to decide.
   */
  take?(cost: Cost): Grant | undefined;
  /**
   * The fast path of a synchronous store: takes the cost as `decide` does, and returns the reply. Returns undefined, and charges
   * nothing, if `decide` has to be called.
   */
  decideNow?(cost: Cost): DecideReply | undefined;
  /**
   * Milliseconds until so many permits of each limit are free, at most its capacity, after all reservations: known to a
   * synchronous store. Undefined if requests may be granted before, or at a pace.
   */
  untilFree?(permits: readonly number[]): number[] | undefined;
  /** Grants requests now, or reserves future moments for them. */
  reserve(request: ReserveRequest, reply: Reply<ReserveReply>): void;
  /** How many `refund` calls may be in flight: one, if it is not set. */
  readonly mostRefundCalls?: number;
  /**
   * Returns permits to the limit. The sequence number lets the store apply a call that was sent twice only once. Of the calls in
   * flight, no two have numbers with the same remainder modulo `mostRefundCalls`: each remainder has its own sequence.
   */
  refund(refunds: readonly Refund[], sequence: number, reply: Reply<RefundReply>): void;
  /** Takes the cost if it is available now, but not before the client's last reservation, and reports what is left. */
  decide(cost: Cost, reply: Reply<DecideReply>, last?: LastMoment): void;
  /** Reports the permits that are available now, of each limit. */
  peek(reply: Reply<number[]>): void;
}

/** The limits in force, and whether they are stored for the whole fleet. */
export interface Rate {
  limits: readonly Limit[];
  stored: boolean;
}

/** New limits for the whole fleet. */
export interface RateChange {
  limits: readonly Limit[];
  /** Whether limits that are already stored stay in force instead. */
  ifAbsent: boolean;
  /** Whether permits granted before continue to count. */
  keepState: boolean;
}

/** Calls that change a limit for the whole fleet. */
export interface LimitControl {
  /** Stores limits, which override the limits of every client's code. Replies whether it stored them. */
  setRate(change: RateChange, reply: Reply<boolean>): void;
  getRate(reply: Reply<Rate>): void;
  /** Pauses the limit for `ms` milliseconds: nothing is granted meanwhile. The later end of two pauses wins. Replies the time left. */
  pause(ms: number, reply: Reply<number>): void;
  /** Forgets grants and reservations, and ends a pause; with `rate`, deletes the stored limits too. */
  forget(what: { rate: boolean }, reply: Reply<void>): void;
}

/** A ledger whose limit can be changed for the fleet. */
export type ControlledLedger = Ledger & LimitControl;

declare const storeType: unique symbol;

/** Holds the state of limiters: `memoryStore()` within one process, Redis for a fleet. */
export interface Store {
  readonly [storeType]?: true;
}

/** @internal The members that the published types leave out. */
export interface Store {
  /** Returns the ledger of one limiter. */
  open(config: LedgerConfig): ControlledLedger;
  /** Ledgers with the key of this one may be opened from now on. A store of one limiter or group need not find others. */
  index?(ledger: ControlledLedger | undefined): void;
}
