import type { Readable } from 'node:stream';
import { lastValueFrom, type Observable, takeUntil, takeWhile, tap } from 'rxjs';
import { fromThrottled, type Limiter } from '../index.ts';
import type { Arguments } from './arguments.ts';
import { Lines } from './lines.ts';
import type { Output } from './output.ts';

type LineOptions = Pick<Arguments, 'permits' | 'timeout' | 'timestamps'>;

/** The numbers of lines that have passed, and that have been read and wait. */
export interface Tally {
  lines: number;
  waiting: number;
}

/**
 * Passes lines from one stream to another when their permits are granted, with backpressure.
 *
 * Permits are requested only while lines wait for them, so none is charged or held for a line that comes late or never. No
 * permits are requested while the output is full: granted lines would pile up, and leave all at once.
 *
 * @returns a promise that resolves when the last line is written
 */
export async function pump(
  input: Readable,
  output: Output,
  limiter: Limiter,
  options: LineOptions,
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
  { permits, timeout, timestamps }: LineOptions,
): Observable<string> {
  if (!timestamps) return fromThrottled(lines, limiter, { permits, timeout });
  const project = (line: string, { grantedAt }: { grantedAt: number }) => `${grantedAt}\t${line}`;
  return fromThrottled(lines, limiter, { permits, timeout, project });
}

/** Passes lines until none waits, or the output is full; then the unused permits are refunded. */
async function pass(
  throttled: Observable<string>,
  lines: Lines,
  output: Output,
  tally: Tally,
): Promise<void> {
  const passing = throttled.pipe(
    // Ending after the last line saves the permits that detecting the end would cost.
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
