import { outcome, type ReserveReply, type ReserveRequest } from '../stores/store.ts';
import { applyReply } from './applyReply.ts';
import { bringForward, earlierRun } from './earlier.ts';
import { type Call, gather, type SentRun } from './gather.ts';
import type { Parts } from './parts.ts';
import type { ReplyPrefetch } from './replyPrefetch.ts';
import { Siblings } from './siblings.ts';

/**
 * Milliseconds after which a client with waiting requests calls again, whatever it has reserved: the limit may have been
 * paused or changed. Every client has then received a change within two seconds; the difference is left for the call.
 */
const heartbeat = 1_500;

/** Requests count as waiting when the store has not replied within so many ms, or so many mean round trips if that is longer. */
const leastAllowance = 100;
const allowanceTrips = 4;

/** Handles the replies. */
export interface Replies {
  /** Grants all requests of the call without reservations, if the reply does. Returns whether it did. */
  grants(call: Call, reply: ReserveReply, received: number): boolean;
  /** A reply has been applied. */
  replied(reply: ReserveReply, received: number): void;
  /** Moves reservations to earlier moments. */
  readonly rescheduler: { refunding(): void };
  /** Asks for permits for the next requests. */
  readonly prefetch: ReplyPrefetch;
}

/** Sends reserve calls, one at a time, and applies their replies. */
export class ReserveCalls {
  readonly #parts: Parts;
  readonly #replies: Replies;
  readonly siblings: Siblings;
  /** The call in flight. */
  current: Call | undefined;
  /** Number of calls sent. */
  count = 0;
  #epoch = 0;
  /** When the client calls again even if it needs nothing; negative if even without a request. */
  #heartbeatAt = Infinity;
  /** When the last call that has a reply was sent. */
  #repliedTo = -Infinity;
  /** Whether the last reply to a call of requests granted all of them at once. */
  #grantedAll = false;

  constructor(parts: Parts, replies: Replies) {
    this.#parts = parts;
    this.#replies = replies;
    this.siblings = new Siblings(parts.client);
  }

  /** Milliseconds that the store is given to reply. */
  get replyAllowance(): number {
    return Math.max(leastAllowance, allowanceTrips * this.#parts.fairShare.usualTrip);
  }

  /** Whether the store takes longer to reply than it is given. */
  get isOverdue(): boolean {
    return this.#parts.clock.now() > (this.current?.sent ?? Infinity) + this.replyAllowance;
  }

  /** Whether the ledger's limits are known to be those in force: a client without waiting requests receives no changes. */
  get knowsLimits(): boolean {
    const { clock, ledger, queue } = this.#parts;
    return ledger.sync || (queue.first !== undefined && clock.now() < this.#repliedTo + heartbeat);
  }

  /** Whether the last call was granted all that it asked for at once, a moment ago, and no other client contends. */
  #isFree(now: number): boolean {
    return this.#grantedAll && this.#parts.fairShare.contenders === 1 && now < this.#repliedTo + heartbeat;
  }

  /** When the next call is to be sent although nothing happens until then. */
  get next(): number {
    const { clock, queue, waitEstimate } = this.#parts;
    if (!queue.first || this.current) return Infinity;
    const { retryAt } = waitEstimate;
    const retries = queue.firstUnreserved !== undefined && retryAt > clock.now();
    return retries ? Math.min(retryAt, this.#heartbeatAt) : this.#heartbeatAt;
  }

  /** Makes the next call due. */
  expedite(): void {
    this.#heartbeatAt = 0;
  }

  /**
   * Requests were cancelled. If none is left, a call tells the store that the client is no contender any more, unless requests of
   * the client wait in another dispatcher.
   */
  left(): void {
    const { queue, fairShare } = this.#parts;
    if (!queue.first && fairShare.contenders > 1 && !this.siblings.wait) this.#heartbeatAt = -1;
  }

  /** Sends a call if one is due and none is in flight. */
  send(): void {
    const { queue, clock, ledger, fairShare, reservations, refunds, waitEstimate, alone } = this.#parts;
    if (this.current || !(queue.first || (this.#heartbeatAt < 0 && refunds.idle))) return;
    const { held, last, count } = reservations.moments;
    const sent = clock.now();
    const next = queue.firstUnreserved;
    const wanted = next !== undefined && fairShare.isLow(held, count, fairShare.loadOf(next.cost));
    if (sent < this.#heartbeatAt && (!wanted || sent < waitEstimate.retryAt)) return;
    const runs = wanted ? gather(queue, fairShare, sent, ledger.sync, this.#isFree(sent)) : [];
    const earlier = wanted ? undefined : earlierRun(this.#parts, sent + heartbeat, sent);
    const prefetched = this.#replies.prefetch.sizeFor(runs);
    if (prefetched > 0) runs.at(-1)!.count += prefetched;
    const call: Call = { runs, prefetched, earlier, sent, last: queue.order, version: refunds.version };
    this.current = call;
    this.#heartbeatAt = alone ? Infinity : sent + heartbeat;
    this.count++;
    const { horizon } = fairShare;
    const request: ReserveRequest = { runs, horizon, held, epoch: this.#epoch };
    if (last) request.last = last.grant;
    if (earlier) Object.assign(request, { runs: [earlier], earlier: true });
    if (!ledger.sync && runs.length > 0) request.isObsolete = isObsolete;
    ledger.reserve(request, (error, reply) => {
      const received = clock.now();
      this.#parts.loop.run(() => {
        if (error) this.#fail(call, error);
        this.current = undefined;
        if (reply) this.#apply(call, reply, received);
      });
    });
  }

  /** Fails the requests of a call. After an overdue one, those that it left queued would each wait as long for their own. */
  #fail({ runs, last }: Call, error: Error): void {
    const { queue, clock, events, reservations } = this.#parts;
    for (const request of runs.length > 0 && this.isOverdue
      ? queue.requests()
      : runs.flatMap(({ requests }) => requests))
      if (request.stage === 'sent' || (request.stage === 'queued' && request.order <= last))
        queue.settle(request, error);
    reservations.failDelayed(error);
    const due = reservations.moments.last?.due ?? 0;
    // The next call is made no later: without it, the requests behind the last reservation would wait for the heartbeat.
    if (due > clock.now()) this.#heartbeatAt = Math.min(this.#heartbeatAt, due);
    events.emitError(error);
  }

  #apply(call: Call, answer: ReserveReply, received: number): void {
    const { queue, ledger, fairShare, refunds, reservations, notice } = this.#parts;
    const { waitEstimate, hopeless, clockOffset } = this.#parts;
    const { now, epoch, retryAfter } = answer;
    if (!ledger.sync && !answer.hasWaited) fairShare.measure(received - call.sent);
    fairShare.contenders = answer.contenders;
    fairShare.raised = answer.share ?? 0;
    fairShare.takesTurns = answer.inTurn ?? false;
    this.#epoch = epoch;
    this.#repliedTo = call.sent;
    if (call.runs.length > 0) this.#grantedAll = answer.segments.every(({ delay }) => delay === 0);
    if (notice.isLost(answer, received)) reservations.requeueFrom((one) => !notice.covers(one));
    notice.replied(answer, call.sent);
    const { earlier } = call;
    const reply = earlier ? bringForward(this.#parts, earlier, answer, call.sent, received) : answer;
    if (!this.#replies.grants(call, reply, received)) applyReply(this.#parts, call, reply, received);
    clockOffset.measure(epoch, now, received);
    // With one call at a time, this reply covers every request that joined before the call.
    queue.deadlines.answered(this.count);
    const { pausedUntil } = call;
    if (pausedUntil !== undefined) reservations.requeueFrom(({ due }) => due < pausedUntil);
    // Permits that were refunded since the call was sent may be available already.
    const waits = fairShare.takesTurns || call.version === refunds.version;
    // A turn is the moment at which a call arrives: otherwise those with the longest round trips come last, and less often.
    const from = reply.inTurn ? call.sent : received;
    waitEstimate.retryAt = retryAfter !== undefined && waits ? from + retryAfter : 0;
    waitEstimate.isOrdered = answer.contenders > 1;
    waitEstimate.denyImmediate(received);
    this.#replies.replied(reply, received);
    hopeless.deny(received, call, reply, refunds.version);
    queue.settled.sort();
    if (earlier && answer.segments.at(-1)?.delay === outcome.movesUp) this.#replies.rescheduler.refunding();
  }
}

/** Whether all requests of a call have been cancelled or refused since. No closure: calls of many requests take half as long. */
function isObsolete(this: ReserveRequest): boolean {
  return (this.runs as readonly SentRun[]).every(({ requests }) =>
    requests.every(({ stage }) => stage === 'settled'),
  );
}
