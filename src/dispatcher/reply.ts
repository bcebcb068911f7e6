import { exceedsError, permitsOf } from '../limits/cost.ts';
import { eachSegment, momentOf } from '../stores/segments.ts';
import { outcome, type ReserveReply, type Segment } from '../stores/store.ts';
import type { Call, SentRun } from './batch.ts';
import type { LineParts } from './lineParts.ts';
import { overtaken, voided } from './reservedMoments.ts';

/** Brings a reply into the line: moments for those who got them, refusals, and back into the queue with the others. */
export function applyReply(parts: LineParts, call: Call, reply: ReserveReply, received: number): void {
  const { runs } = call;
  parts.fairShare.contenders = reply.contenders;
  // Before anything else is booked: those who stood in front keep their place.
  const { voidAfter, paused } = reply;
  if (voidAfter !== undefined) parts.reservations.unbook(voided(reply, received + voidAfter));
  if (paused !== undefined) parts.reservations.unbook(overtaken(reply, received + paused));
  // A store that cannot book is not alone with its log: what it denies may be there at any moment.
  const denials = reply.retryAfter === undefined ? call.denials : undefined;
  eachSegment(runs, reply.segments, (run, segment) => {
    if (segment.delay >= 0) book(parts, run, segment, reply, call.sent, received);
    else settle(parts, run, segment, received, denials);
  });
  parts.transit.measured(reply.epoch, reply.now, received);
  for (const { requests } of runs)
    for (const request of requests) if (request.stage === 'sent') parts.queue.requeue(request);
}

function book(
  { reservations: bookings, ledger, fairShare: share, transit }: LineParts,
  { cost }: SentRun,
  { delay, count }: Segment,
  reply: ReserveReply,
  sent: number,
  received: number,
): void {
  const soonest = sent + delay;
  const known = transit.leastAhead(reply.epoch);
  const due = Math.min(received + delay, Math.max(soonest, reply.now + delay + known));
  // Where nothing is known of the way back, a moment that may lie inside the time-out is taken to.
  const meant = known === Infinity ? soonest : due;
  const grant = { cost, moment: momentOf(reply, delay), due, epoch: reply.epoch, source: ledger.source };
  bookings.book({ grant, count, due, meant, soonest, load: share.loadOf(cost) });
}

/** What becomes of the requests of a run that were neither granted nor booked. */
function settle(
  { name, named, ledger, queue, fairShare: share, refusals: denial }: LineParts,
  { cost, requests, maxWait }: SentRun,
  { delay, retryAfter }: Segment,
  received: number,
  denials: number | undefined,
): void {
  for (const request of requests) {
    if (request.stage !== 'sent') continue;
    if (delay === outcome.refused) queue.late(request, retryAfter);
    else if (delay === outcome.exceedsLimit)
      queue.refuse(request, exceedsError(name, named, ledger.limits, permitsOf(named, cost)));
  }
  // A store in this process is asked as quickly as it is remembered, and what was given back meanwhile may be free.
  if (delay === outcome.refused && maxWait === 0 && !ledger.sync && denial.forgotten === denials)
    denial.remember(cost, retryAfter, received, Math.min(retryAfter, share.horizon));
}
