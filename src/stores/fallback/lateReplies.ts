import { eachSegment, momentOf } from '../segments.ts';
import type { Refund, ReserveReply, Run } from '../store.ts';

/** What gives back all that a reply to these runs granted and booked in Redis. */
export function refundsOf(runs: readonly Run[], reply: ReserveReply): Refund[] {
  const refunds: Refund[] = [];
  const { epoch } = reply;
  eachSegment(runs, reply.segments, ({ cost }, { count, delay }) => {
    if (delay >= 0) refunds.push({ moment: momentOf(reply, delay), epoch, source: 'redis', cost, count });
  });
  return refunds;
}
