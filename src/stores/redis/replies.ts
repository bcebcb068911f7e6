import { outcome, type Run, type Segment } from '../store.ts';

/** A script's answer: one whole number, several, or the text of limits. */
export type Answer = number | number[] | string;

/** The answer with its numbers as numbers: a connection may be set to hand on strings. */
export function answerOf(answer: unknown): Answer {
  if (typeof answer === 'number' && Number.isInteger(answer)) return answer;
  if (Array.isArray(answer) && answer.every(Number.isInteger)) return answer;
  if (typeof answer === 'string' && answer.startsWith('[')) return answer;
  for (const item of Array.isArray(answer) ? answer : [answer])
    if (!/^-?\d+$/.test(String(item))) throw malformed(answer);
  return Array.isArray(answer) ? answer.map(Number) : Number(answer);
}

export function malformed(answer: unknown): TypeError {
  return new TypeError(`malformed reply: ${JSON.stringify(answer)}`);
}

/** A list of so many numbers. */
export function listed(answer: Answer, length: number): number[] {
  if (Array.isArray(answer) && answer.length === length) return answer;
  throw malformed(answer);
}

/** Pairs of a count and a delay, after the numbers of the reply's head. */
export function segmentsOf(answer: number[], head: number): Segment[] {
  const segments: Segment[] = [];
  for (let i = head; i + 1 < answer.length; i += 2) {
    const [count, delay] = [answer[i], answer[i + 1]];
    if (delay >= 0) segments.push({ count, delay: delay / 1000, retryAfter: 0 });
    else if (delay === outcome.queued) segments.push({ count, delay, retryAfter: 0 });
    else if (delay === outcome.exceedsLimit) segments.push({ count, delay, retryAfter: Infinity });
    else segments.push({ count, delay: outcome.refused, retryAfter: (outcome.exceedsLimit - delay) / 1000 });
  }
  return segments;
}

/** Whether the segments answer every request, each run's by themselves. */
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
