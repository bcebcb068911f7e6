import type { DecideReply, Refund, RefundReply, ReserveReply, ReserveRequest } from '../store.ts';
import { answersOf, coversAll, listed, malformed, quickDecision, segmentsOf } from './replies.ts';

/** A script's answer that is not the text of other limits. */
type Numbers = number | number[];

/** The numbers before the segments of a reply. */
const head = 7;

/** Milliseconds of a script's microseconds; undefined for its -1. */
function milliseconds(us: number): number | undefined {
  return us < 0 ? undefined : us / 1000;
}

export function reserveReplyOf(answer: Numbers, { runs, epoch }: ReserveRequest): ReserveReply {
  if (typeof answer === 'number') {
    if (answer <= 0) throw malformed(answer);
    const segments = runs.map(({ count }) => ({ count, delay: 0, retryAfter: 0 }));
    return { now: answer / 1000, epoch, contenders: 1, segments };
  }
  const [now, newEpoch, contenders, paused, voidAfter, retryAfter, share] = answer;
  const segments = segmentsOf(answer, head);
  const isHead =
    now > 0 && newEpoch >= 0 && contenders >= 1 && paused >= -1 && voidAfter >= -1 && share >= -1;
  if (!isHead || !coversAll(runs, segments)) throw malformed(answer);
  const reply: ReserveReply = { now: now / 1000, epoch: newEpoch, contenders, segments };
  if (paused >= 0) reply.paused = milliseconds(paused);
  if (voidAfter >= 0) reply.voidAfter = milliseconds(voidAfter);
  if (retryAfter >= 0) reply.retryAfter = milliseconds(retryAfter);
  else if (retryAfter < -1) {
    reply.retryAfter = (-2 - retryAfter) / 1000;
    reply.inTurn = true;
  }
  if (share >= 0) reply.share = milliseconds(share);
  return reply;
}

export function refundReplyOf(answer: Numbers, refunds: readonly Refund[]): RefundReply {
  // The sequence number was known: the first reply to this call reported which refunds restored permits.
  if (Array.isArray(answer) && answer.length === 0) return {};
  return { restored: answersOf(answer, refunds.length) };
}

/** `limits` is the number of limits; the fast path of a single limit leaves at most `most` permits free. */
export function decideReplyOf(answer: Numbers, limits: number, most: number): DecideReply {
  if (typeof answer === 'number') return quickDecision(answer, most);
  // A refusal by one of several limits names the limit with the longest wait.
  const isNamed = limits > 1 && answer.length > 3 + limits;
  const [granted, wait, reset, ...rest] = listed(answer, 3 + limits + (isNamed ? 1 : 0), -1);
  const limiting = isNamed ? rest.pop()! : -1;
  const isWhole = granted === 0 || granted === 1;
  if (!isWhole || reset < 0 || rest.some((n) => n < 0) || limiting >= limits) throw malformed(answer);
  const decision: DecideReply = {
    granted: granted === 1,
    available: rest,
    retryAfter: milliseconds(wait) ?? Infinity,
    resetAfter: reset / 1000,
  };
  if (limiting >= 0) decision.limiting = limiting;
  return decision;
}
