import { type DecideReply, outcome, type Run, type Segment } from '../store.ts';

/** A script's answer: one whole number, several, or the text of limits. */
export type Answer = number | number[] | string;

/** Converts the numbers of an answer: a connection may be configured to return them as strings. */
export function answerOf(answer: unknown): Answer {
  if (typeof answer === 'string' && answer.startsWith('[')) return answer;
  return Array.isArray(answer) ? numbersIn(answer) : numberOf(answer, answer);
}

/** A reply that is a list of numbers. */
export function numbersIn(answer: unknown[]): number[] {
  return answer.every(isWhole) ? answer : answer.map((item) => numberOf(item, answer));
}

/** Whether Redis could send it: a whole number of 64 bits. */
function isWhole(item: unknown): item is number {
  return Number.isInteger(item) && Math.abs(item as number) <= 2 ** 63;
}

function numberOf(item: unknown, answer: unknown): number {
  if (isWhole(item)) return item;
  const n = typeof item === 'string' && /^-?\d+$/.test(item) ? Number(item) : Number.NaN;
  if (isWhole(n)) return n;
  throw malformed(answer);
}

export function malformed(answer: unknown): TypeError {
  return new TypeError(`malformed reply: ${JSON.stringify(answer)}`);
}

/** A list of so many numbers, none of them below `least`. */
export function listed(answer: Answer, length: number, least = 0): number[] {
  if (Array.isArray(answer) && answer.length === length && answer.every((n) => n >= least)) return answer;
  throw malformed(answer);
}

/** A list of so many answers, each 1 for yes or 0 for no. */
export function answersOf(answer: Answer, length: number): boolean[] {
  const numbers = listed(answer, length);
  if (numbers.some((n) => n > 1)) throw malformed(answer);
  return numbers.map((n) => n === 1);
}

/** A decision in one number: the free permits times this, plus the microseconds until all permits are free. */
const resetBound = 0x2_0000_0000;

/** The decision of the fast path, which leaves at most `most` permits free. */
export function quickDecision(answer: number, most: number): DecideReply {
  const reset = answer % resetBound;
  const free = (answer - reset) / resetBound;
  if (!(reset > 0 && free <= most)) throw malformed(answer);
  return { granted: true, available: [free], retryAfter: 0, resetAfter: reset / 1000 };
}

/** Pairs of a count and a delay, after the numbers of the reply's head. */
export function segmentsOf(answer: number[], head: number): Segment[] {
  const segments: Segment[] = [];
  if ((answer.length - head) % 2 !== 0) throw malformed(answer);
  for (let i = head; i < answer.length; i += 2) {
    const [count, delay] = [answer[i], answer[i + 1]];
    if (delay >= 0) segments.push({ count, delay: delay / 1000, retryAfter: 0 });
    else if (delay === outcome.queued) segments.push({ count, delay, retryAfter: 0 });
    else if (delay === outcome.exceedsLimit) segments.push({ count, delay, retryAfter: Infinity });
    else segments.push({ count, delay: outcome.refused, retryAfter: (outcome.exceedsLimit - delay) / 1000 });
  }
  return segments;
}

/** Whether the segments cover every request, and no segment spans two runs. */
export function coversAll(runs: readonly Run[], segments: readonly Segment[]): boolean {
  let i = 0;
  for (const { count } of runs) {
    let left = count;
    while (left > 0) {
      const given = segments[i++]?.count;
      if (!(given > 0)) return false;
      left -= given;
    }
    if (left < 0) return false;
  }
  return i === segments.length;
}
