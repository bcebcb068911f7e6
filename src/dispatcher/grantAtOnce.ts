import { momentOf } from '../stores/segments.ts';
import type { ReserveReply } from '../stores/store.ts';
import type { Call, SentRun } from './gather.ts';
import type { Parts } from './parts.ts';

/**
 * The fast path of a reply that grants all requests of a call now: they leave the queue without reservations. Returns how many
 * were granted; 0 if the reply has to be applied.
 *
 * It applies only if nothing comes before them, none of them has left, no event is to be emitted, and their callbacks run no
 * code that could add or cancel requests.
 */
export function grantAtOnce(
  parts: Parts,
  { runs, prefetched }: Call,
  reply: ReserveReply,
  received: number,
): number {
  const { queue, reservations, events, ledger } = parts;
  const isFirst = !reservations.moments.first && queue.settled.isEmpty;
  if (!isFirst || events.observed || !isGranted(runs, reply, prefetched)) return 0;
  const { epoch } = reply;
  let granted = 0;
  for (const { cost, count, requests } of runs) {
    const grant = { cost, moment: momentOf(reply, 0), due: received, epoch, source: ledger.source };
    for (const request of requests) {
      queue.remove(request);
      for (let i = 0; i < request.count; i++) request.waiter.granted(grant, request.dataOf(i));
    }
    granted += count;
  }
  return granted - prefetched;
}

/** Whether a reply grants all requests now, and all of them are still in the queue and passive. */
function isGranted(runs: readonly SentRun[], { segments }: ReserveReply, prefetched: number): boolean {
  if (segments.length !== runs.length) return false;
  for (let i = 0; i < runs.length; i++) {
    const { count, requests } = runs[i];
    if (segments[i].delay !== 0 || segments[i].count !== count) return false;
    let left = count;
    for (const { stage, waiter, count } of requests) {
      if (stage !== 'sent' || !waiter.isPassive) return false;
      left -= count;
    }
    if (left !== (i === runs.length - 1 ? prefetched : 0)) return false;
  }
  return true;
}
