import { Observable, type Subscriber } from 'rxjs';
import type { AskedPermits } from '../errors.ts';
import type { ShownLimit } from '../limits/cost.ts';
import type { PermitSource, ServiceChange } from '../stores/store.ts';
import type { DropReason } from './line.ts';

/** The properties of every event. */
interface BaseEvent<Type extends string> {
  /** Which event it is. */
  readonly type: Type;
  /** The limiter's name. */
  readonly limiter: string;
}

/** The properties of an event about a request. */
interface RequestEvent<Type extends string> extends BaseEvent<Type> {
  /** The permits of the request: a number, or a record for a limiter of several limits. */
  readonly permits: AskedPermits;
}

/** A request was granted, and its moment has come. */
export interface GrantedEvent extends RequestEvent<'granted'> {
  /** The granted moment: epoch milliseconds by the store's clock; undefined for `decide`. */
  readonly grantedAt: number | undefined;
  /** Where the permits come from. */
  readonly source: PermitSource;
}

/** A request was added to the queue of this process, possibly just before it is granted or times out. */
export type QueuedEvent = RequestEvent<'queued'>;

/** A request that may not wait was denied, since its permits are not available now. */
export interface DeniedEvent extends RequestEvent<'denied'> {
  /** Milliseconds until the permits are available, if known. */
  readonly retryAfter: number | undefined;
}

/** A request cannot be granted within its `timeout`. */
export interface TimeoutEvent extends RequestEvent<'timeout'> {
  /** Milliseconds until the permits are available, if known. */
  readonly retryAfter: number | undefined;
}

/** A request was cancelled: by its signal, by unsubscription, or by `close()`. */
export type CancelledEvent = RequestEvent<'cancelled'>;

/** An operator has dropped a value because of one of its options. */
export interface DroppedEvent extends BaseEvent<'dropped'> {
  /** The value of the source. */
  readonly value: unknown;
  /** That option. */
  readonly reason: DropReason;
}

/**
 * Permits were refunded: by `refund`, `settle` or `release`, because a reservation was cancelled or is made again, or because
 * permits that a call acquired ahead were not requested.
 */
export type RefundedEvent = RequestEvent<'refunded'>;

/** The fleet is paused: by a call in this process, or by another client, as the store has reported. */
export interface PausedEvent extends BaseEvent<'paused'> {
  /** The end of the pause: milliseconds from now. */
  readonly ms: number;
}

/** The limit in force has changed, as the store has reported. */
export interface RateEvent extends BaseEvent<'rate'> {
  /** The limit in force: one, or a record of several by their names. */
  readonly limit: ShownLimit;
}

/** Redis cannot be reached, and the fallback serves. */
export interface FallbackEvent extends BaseEvent<'fallback'> {
  /** The error of the call to Redis. */
  readonly error: Error;
}

/** Redis serves again. */
export type RecoveredEvent = BaseEvent<'recovered'>;

/** A request or a call to the store has failed, for a reason other than its timeout. Each error is reported once. */
export interface ErrorEvent extends BaseEvent<'error'> {
  /** The error of the request or of the call. */
  readonly error: Error;
}

/** An event of a limiter in this process. `type` tells which one. */
export type LimiterEvent =
  | GrantedEvent
  | QueuedEvent
  | DeniedEvent
  | TimeoutEvent
  | CancelledEvent
  | DroppedEvent
  | RefundedEvent
  | PausedEvent
  | RateEvent
  | FallbackEvent
  | RecoveredEvent
  | ErrorEvent;

type EventFields<E> = E extends LimiterEvent ? Omit<E, 'limiter'> : never;

/** The events of one limiter. Callers check `observed` first, so that no event is created without a subscriber. */
export class LimiterEvents {
  readonly #limiter: string;
  readonly #subscribers = new Set<Subscriber<LimiterEvent>>();
  #lastError: Error | undefined;
  #closed = false;
  readonly events$ = new Observable<LimiterEvent>((subscriber) => {
    if (this.#closed) {
      subscriber.complete();
      return undefined;
    }
    this.#subscribers.add(subscriber);
    return () => this.#subscribers.delete(subscriber);
  });

  constructor(limiter: string) {
    this.#limiter = limiter;
  }

  get observed(): boolean {
    return this.#subscribers.size > 0;
  }

  emit(event: EventFields<LimiterEvent>): void {
    // The spread comes last: with other fields after it, V8 gives each event a shape of its own.
    const named = { limiter: this.#limiter, ...event } as LimiterEvent;
    for (const subscriber of [...this.#subscribers]) subscriber.next(named);
  }

  /** Emits an error, but not the same one twice in a row, since one error may fail many calls. */
  emitError(error: Error): void {
    if (!this.observed || error === this.#lastError) return;
    this.#lastError = error;
    this.emit({ type: 'error', error });
  }

  /** Emits that the fallback serves, or that the store serves again. */
  serviceChanged(change: ServiceChange): void {
    if (this.observed) this.emit(change);
  }

  /** Completes all subscribers. */
  close(): void {
    this.#closed = true;
    for (const subscriber of [...this.#subscribers]) subscriber.complete();
  }
}
