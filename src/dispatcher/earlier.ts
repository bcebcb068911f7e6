import { shortestInterval } from '../limits/load.ts';
import { eachSegment } from '../stores/segments.ts';
import type { ReserveReply, Run } from '../stores/store.ts';
import { reservationOf } from './applyReply.ts';
import type { Parts } from './parts.ts';

/** A reservation comes forward by so many milliseconds at least, or by this part of the shortest interval if that is more. */
const leastGain = 20;
const leastPart = 0.01;
/** The same in round trips: the client's clock may be late by that much. */
const leastTrips = 2;

/**
 * The run that asks for earlier moments for the first requests, if these are due later than `far`: another client may have
 * cancelled reservations in front of them. Of buckets alone, whatever their moments: permits that come back to these make no
 * reservation void while several clients wait. Clients that take turns share what is free instead.
 */
export function earlierRun(
  { ledger, reservations, fairShare }: Parts,
  far: number,
  now: number,
): Run | undefined {
  const { first, firstAlike } = reservations.moments;
  if (!first || (first.due <= far && fairShare.hasWindow)) return undefined;
  if (fairShare.takesTurns || first.grant.source !== ledger.source) return undefined;
  const gain = Math.max(leastGain, shortestInterval(ledger) * leastPart, leastTrips * fairShare.usualTrip);
  const maxWait = Math.floor(first.due - now - gain);
  return maxWait > 0 ? { count: firstAlike, cost: first.grant.cost, maxWait } : undefined;
}

/** Applies the reply to such a run, and returns the rest of the reply: its segments are of no other request. */
export function bringForward(
  parts: Parts,
  run: Run,
  reply: ReserveReply,
  sent: number,
  received: number,
): ReserveReply {
  eachSegment([run], reply.segments, (run, segment) => {
    if (segment.delay < 0) return;
    parts.reservations.bringForward(reservationOf(parts, run, segment, reply, sent, received));
  });
  return { ...reply, segments: [] };
}
