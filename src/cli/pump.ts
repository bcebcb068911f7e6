import type { Readable } from 'node:stream';
import { lastValueFrom, type Observable } from 'rxjs';
import { takeUntil, takeWhile, tap } from 'rxjs/operators';
import { fromThrottled, type Limiter } from '../index.ts';
import type { Arguments } from './arguments.ts';
import { Lines } from './lines.ts';
import type { Output } from './output.ts';

type Asked = Pick<Arguments, 'permits' | 'timeout' | 'timestamps'>;

/** What has passed, and what has been read and waits. */
export interface Tally {
  lines: number;
  waiting: number;
}

/**
 * Passes lines from a stream to another, each after its permits, and only as fast as they are taken.
 *
 * Permits are asked for while there are lines that wait for them: none is charged for a line that never comes, or held
 * for one that comes late. While the output is full nothing is asked for, so that what was granted does not pile up and
 * leave all at once.
 *
 * @returns once the last line is written
 */
export async function pump(
  input: Readable,
  output: Output,
  limiter: Limiter,
  options: Asked,
  tally: Tally,
): Promise<void> {
  const lines = new Lines(input);
  const throttled = throttle(lines, limiter, options);
  try {
    while (await lines.some()) {
      tally.waiting = lines.waiting;
      await output.ready();
      await pass(throttled, lines, output, tally);
    }
  } finally {
    await output.finished();
  }
}

function throttle(
  lines: Lines,
  limiter: Limiter,
  { permits, timeout, timestamps }: Asked,
): Observable<string> {
  if (!timestamps) return fromThrottled(lines, limiter, { permits, timeout });
  const project = (line: string, { grantedAt }: { grantedAt: number }) => `${grantedAt}\t${line}`;
  return fromThrottled(lines, limiter, { permits, timeout, project });
}

/** Passes lines on until none waits, or the output is full: what was asked for beyond is given back. */
async function pass(
  throttled: Observable<string>,
  lines: Lines,
  output: Output,
  tally: Tally,
): Promise<void> {
  const passing = throttled.pipe(
    // That there is no other line is known, and need not wait for permits.
    takeWhile(() => lines.waiting > 0, true),
    takeUntil(output.full$),
    tap((line) => {
      tally.lines++;
      tally.waiting = lines.waiting;
      output.line(line);
    }),
  );
  await lastValueFrom(passing, { defaultValue: undefined });
}
