import { Observable, type Subscriber } from 'rxjs';
import type { AskedPermits } from '../errors.ts';
import type { ShownLimit } from '../limits/cost.ts';
import type { PermitSource, ServiceChange } from '../stores/store.ts';
import type { DropReason } from './line.ts';

/** What every event says. */
interface Told<Type extends string> {
  readonly type: Type;
  /** The limiter's name. */
  readonly limiter: string;
}

/** What an event about a request says. */
interface OfRequest<Type extends string> extends Told<Type> {
  /** What was asked for: a number, or a record for a limiter of several limits. */
  readonly permits: AskedPermits;
}

/** Permits were granted, and their moment has come. */
export interface GrantedEvent extends OfRequest<'granted'> {
  /** The granted moment: epoch milliseconds by the store's clock; a decision does not say it. */
  readonly grantedAt: number | undefined;
  readonly source: PermitSource;
}

/** A request has joined the line of this process. */
export type QueuedEvent = OfRequest<'queued'>;

/** A request that will not wait was refused for want of permits. */
export interface DeniedEvent extends OfRequest<'denied'> {
  /** Milliseconds until the permits will be there, where that is known. */
  readonly retryAfter: number | undefined;
}

/** A request could not have its permits within its `timeout`. */
export interface TimeoutEvent extends OfRequest<'timeout'> {
  /** Milliseconds until the permits will be there, where that is known. */
  readonly retryAfter: number | undefined;
}

/** A request has left the line: by its signal, by unsubscribing, or because the limiter was closed. */
export type CancelledEvent = OfRequest<'cancelled'>;

/** An operator has dropped a value, as its options say. */
export interface DroppedEvent extends Told<'dropped'> {
  readonly value: unknown;
  /** Why: its permits were not there now, not in time, or too many values waited. */
  readonly reason: DropReason;
}

/** Permits were given back: by `refund` or `release`, or because nobody waits any more for what was booked. */
export type RefundedEvent = OfRequest<'refunded'>;

/** The fleet pauses, as this process has asked for or heard. */
export interface PausedEvent extends Told<'paused'> {
  /** Milliseconds from now. */
  readonly ms: number;
}

/** Another limit is in force than this process knew of. */
export interface RateEvent extends Told<'rate'> {
  readonly limit: ShownLimit;
}

/** Redis cannot be reached: the fallback serves. */
export interface FallbackEvent extends Told<'fallback'> {
  readonly error: Error;
}

/** Redis serves again. */
export type RecoveredEvent = Told<'recovered'>;

/** A request was refused for another reason than time, or a call of the store failed. Told once for each error. */
export interface ErrorEvent extends Told<'error'> {
  readonly error: Error;
}

/** What happens at a limiter in this process, told apart by `type`. */
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

type Untold<E> = E extends LimiterEvent ? Omit<E, 'limiter'> : never;

/** The events of one limiter. Whoever tells of one looks first whether anybody listens: an event that nobody hears is never made. */
export class LimiterEvents {
  readonly #limiter: string;
  readonly #listeners = new Set<Subscriber<LimiterEvent>>();
  #lastError: Error | undefined;
  #closed = false;
  readonly events$ = new Observable<LimiterEvent>((listener) => {
    if (this.#closed) {
      listener.complete();
      return undefined;
    }
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  });

  constructor(limiter: string) {
    this.#limiter = limiter;
  }

  get observed(): boolean {
    return this.#listeners.size > 0;
  }

  emit(event: Untold<LimiterEvent>): void {
    const told = { ...event, limiter: this.#limiter } as LimiterEvent;
    for (const listener of [...this.#listeners]) listener.next(told);
  }

  /** Tells of an error, once: it may refuse many. */
  failed(error: Error): void {
    if (!this.observed || error === this.#lastError) return;
    this.#lastError = error;
    this.emit({ type: 'error', error });
  }

  /** The fallback serves from now on, or the store again. */
  serviceChanged(change: ServiceChange): void {
    if (this.observed) this.emit(change);
  }

  /** Nothing more will happen. */
  close(): void {
    this.#closed = true;
    for (const listener of [...this.#listeners]) listener.complete();
  }
}
