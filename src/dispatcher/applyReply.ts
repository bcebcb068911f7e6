import { exceedsError } from '../limits/cost.ts';
import { eachSegment, momentOf } from '../stores/segments.ts';
import { outcome, type ReserveReply, type Run, type Segment } from '../stores/store.ts';
import type { Call, SentRun } from './gather.ts';
import type { Parts } from './parts.ts';
import { Reservation } from './reservation.ts';
import { isPaused, isVoid } from './reservedMoments.ts';

/** Applies a reply: assigns its moments to requests, rejects refused requests, and requeues the others. */
export function applyReply(parts: Parts, call: Call, reply: ReserveReply, received: number): void {
  const { runs } = call;
  const { reservations, hopeless, queue, bounds } = parts;
  // Void reservations first: their requests keep their places in front of those of this reply.
  const { voidAfter, paused } = reply;
  // From the earliest moment at which the store may have replied: a reservation that it counts no longer is not kept.
  if (voidAfter !== undefined) reservations.requeueFrom(isVoid(reply, call.sent + voidAfter));
  if (paused !== undefined) reservations.requeueFrom(isPaused(reply, paused, received + paused));
  const { last } = reservations.moments;
  bounds.reserving();
  eachSegment(runs, reply.segments, (run, segment) => {
    if (segment.delay >= 0)
      // If the client's last reservation was void, the store does not know of those in front of it that stand.
      reservations.assign(
        reservationOf(parts, run, segment, reply, call.sent, received),
        voidAfter !== undefined,
      );
    else reject(parts, run, segment, call, reply, received);
  });
  for (const { requests } of runs)
    for (const request of requests) if (request.stage === 'sent') queue.requeue(request);
  if (reservations.moments.last !== last) hopeless.reserved(reply, call);
}

/** The reservation of a segment. */
export function reservationOf(
  { ledger, fairShare, clockOffset }: Parts,
  { cost }: Run,
  { delay, count }: Pick<Segment, 'delay' | 'count'>,
  reply: ReserveReply,
  sent: number,
  received: number,
): Reservation {
  const earliestDue = sent + delay;
  const offset = clockOffset.least(reply.epoch);
  const due = Math.min(received + delay, Math.max(earliestDue, reply.now + delay + offset));
  // Without a measured offset, a moment counts as within the timeout if it may be.
  const nominalDue = offset === Infinity ? earliestDue : due;
  const grant = { cost, moment: momentOf(reply, delay), due, epoch: reply.epoch, source: ledger.source };
  return new Reservation(grant, count, due, nominalDue, earliestDue, fairShare.loadOf(cost));
}

/** Ends the requests of a run that were neither granted nor reserved, unless they stay in the queue. */
function reject(
  { name, named, ledger, queue, fairShare, waitEstimate }: Parts,
  { cost, requests, maxWait }: SentRun,
  { delay, retryAfter }: Segment,
  { version }: Call,
  reply: ReserveReply,
  received: number,
): void {
  if (delay === outcome.queued) return;
  const reason = delay === outcome.refused ? retryAfter : exceedsError(name, named, ledger.limits, cost);
  for (const request of requests) if (request.stage === 'sent') queue.settle(request, reason);
  // Not remembered: the refusal of a store that cannot reserve, since it says little about the next moment, and that of a
  // synchronous store, which replies as fast as a cache.
  if (delay === outcome.refused && maxWait === 0 && !ledger.sync && reply.retryAfter === undefined)
    waitEstimate.refused(cost, retryAfter, received, Math.min(retryAfter, fairShare.horizon), version);
}
