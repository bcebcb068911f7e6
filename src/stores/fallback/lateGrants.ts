import type { Refund, ReserveReply, Run } from '../store.ts';

/** What gives back all that a reply to these runs granted and booked in Redis. */
export function refundsOf(runs: readonly Run[], { now, epoch, segments }: ReserveReply): Refund[] {
  const refunds: Refund[] = [];
  let index = 0;
  let answered = 0;
  for (const { count, delay } of segments) {
    const { cost, count: asked } = runs[index];
    // What is granted at once has its moment rounded up.
    const moment = delay === 0 ? Math.ceil(now) : Math.round(now + delay);
    if (delay >= 0) refunds.push({ moment, epoch, source: 'redis', cost, count });
    answered += count;
    if (answered < asked) continue;
    index++;
    answered = 0;
  }
  return refunds;
}
