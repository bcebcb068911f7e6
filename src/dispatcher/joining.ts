import type { Cost } from '../limits/cost.ts';
import { exceeds } from '../limits/limit.ts';
import type { Waiter } from '../port/line.ts';
import type { Admission } from './admission.ts';
import type { Expiry } from './expiry.ts';
import type { Lookups } from './lookups.ts';
import type { Parts } from './parts.ts';
import type { Passes } from './passes.ts';
import { Request } from './request.ts';

/** Adds new requests to the queue. */
export class Joining {
  readonly #parts: Parts;
  readonly #admission: Admission;
  readonly #expiry: Expiry;
  readonly #lookups: Lookups;

  constructor({ parts, admission, expiry, lookups }: Passes) {
    this.#parts = parts;
    this.#admission = admission;
    this.#expiry = expiry;
    this.#lookups = lookups;
  }

  /** The time of a new request, unless it has no timeout. */
  #now(timeout: number): number {
    return timeout === Infinity ? Infinity : this.#parts.clock.now();
  }

  /** Adds a request to the queue, perhaps in place of another one of the same waiter. */
  ask(waiter: Waiter<unknown>, cost: Cost, timeout: number, data: unknown, replaces?: Request): Request {
    const { reservations } = this.#parts;
    const now = this.#now(timeout);
    const request = new Request(waiter, cost, 1, timeout, now + timeout, data);
    const wasReserved = replaces?.stage === 'reserved';
    if (replaces && !wasReserved) reservations.remove(replaces);
    if (this.#admission.rejects(request, wasReserved ? 1 : 0)) request.stage = 'settled';
    else this.#add(request, now);
    // Removed only now: its reservation passes to the new request, which has joined.
    if (wasReserved) reservations.remove(replaces);
    this.#joined(request, replaces !== undefined);
    return request;
  }

  /**
   * Adds a request that has no ticket: it is only counted if the last one is like it. Its timeout begins with the next whole
   * millisecond, so that many have one deadline.
   */
  count(waiter: Waiter<unknown>, cost: Cost, data: unknown, timeout: number): void {
    const now = this.#now(timeout);
    const deadline = Math.ceil(now) + timeout;
    if (this.#admission.hasRoom && this.#extend(waiter, cost, timeout, deadline, data, now)) return;
    const request = new Request(waiter, cost, 1, timeout, deadline, data);
    if (this.#admission.rejects(request) || this.#extend(waiter, cost, timeout, deadline, data, now)) return;
    this.#add(request, now);
    this.#joined(request);
  }

  /** Counts a request in the last one, if both are certain or nothing but their data tells them apart. Returns whether it did. */
  #extend(
    waiter: Waiter<unknown>,
    cost: Cost,
    timeout: number,
    deadline: number,
    data: unknown,
    now: number,
  ): boolean {
    const { queue, hopeless, reporter } = this.#parts;
    // A request must not join the last one past the lookups that wait behind it.
    if (this.#lookups.areWaiting || this.#expiry.delays(timeout)) return false;
    const last = queue.lastLike(waiter, cost);
    if (!last || this.#admission.waitsForCall(last)) return false;
    const isLike =
      hopeless.joinsLike(last, deadline, now) ?? this.#admission.leastWait(cost, timeout) <= timeout;
    if (!isLike || !queue.extend(last, data, deadline)) return false;
    reporter.queued(cost);
    return true;
  }

  #add(request: Request, now: number): void {
    const { hopeless, ledger, queue, reporter } = this.#parts;
    if (request.mayExpire) hopeless.joining(request, now);
    // The store refuses it, if no other rate is stored.
    if (exceeds(ledger.limits, request.cost)) request.certain = false;
    queue.add(request);
    reporter.queued(request.cost);
  }

  /** A request has joined the queue, or was rejected. */
  #joined(request: Request, replaces = false): void {
    const { loop, queue } = this.#parts;
    const { deadlines, firstUnreserved } = queue;
    const { mayExpire } = request;
    // Nothing is to be done now for a request behind another that has not been sent.
    const isBehind = mayExpire && request !== firstUnreserved;
    if (replaces || (request.stage !== 'settled' && !isBehind)) loop.wake();
    if (mayExpire && (request.stage === 'queued' || request.stage === 'sent')) {
      this.#expiry.watch(request);
      if (deadlines.first === request) loop.settle();
    }
  }
}
