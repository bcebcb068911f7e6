import type { Readable } from 'node:stream';
import { from, lastValueFrom, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import { takeUntil, tap } from 'rxjs/operators';
import type { Limiter } from '../limiter/line.ts';
import type { Permit } from '../limiter/permit.ts';
import { throttleDistributed } from '../operators/throttleDistributed.ts';
import type { Arguments } from './arguments.ts';
import { batchesOf } from './lines.ts';
import type { Output } from './output.ts';

/** Lines that are asked for together: enough to spare them a round trip each, and few enough to be little memory. */
const ahead = 1024;

type Asked = Pick<Arguments, 'permits' | 'timeout' | 'timestamps'>;

/** What has passed, and what has been read and waits. */
export interface Tally {
  lines: number;
  waiting: number;
}

/**
 * Passes lines from a stream to another, each after its permits, and only as fast as they are taken.
 *
 * A line is read before it is asked for, so none is charged that never comes. While the output is full nothing is
 * asked for, so that what was granted does not pile up and leave all at once.
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
  const throttle = throttleOf(limiter, options);
  // A time-out is of the wait for one line's permits: not of the wait behind lines of our own.
  const most = options.timeout === Infinity ? ahead : 1;
  try {
    for await (let lines of batchesOf(input, most)) {
      tally.waiting = lines.length;
      while (lines.length > 0) {
        await output.ready();
        const before = tally.lines;
        await pass(from(lines).pipe(throttle), output, tally);
        lines = lines.slice(tally.lines - before);
      }
    }
  } finally {
    await output.finished();
  }
}

function throttleOf(
  limiter: Limiter,
  { permits, timeout, timestamps }: Asked,
): MonoTypeOperatorFunction<string> {
  if (!timestamps) return throttleDistributed(limiter, { permits, timeout });
  return throttleDistributed(limiter, {
    permits,
    timeout,
    project: (line: string, { grantedAt }: Permit) => `${grantedAt}\t${line}`,
  });
}

/** Passes lines on until there are no more, or the output is full: what is not granted by then is given back. */
async function pass(lines: Observable<string>, output: Output, tally: Tally): Promise<void> {
  const passing = lines.pipe(
    takeUntil(output.full$),
    tap((line) => {
      tally.lines++;
      tally.waiting--;
      output.line(line);
    }),
  );
  await lastValueFrom(passing, { defaultValue: undefined });
}
