import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundled } from '../support/bundled.ts';
import { killAtExit, killNow } from '../support/leftovers.ts';
import { until } from '../support/until.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));

/** The command, as a file for `node`. It finds out by itself whether ioredis is installed. */
export const command = await bundled('src/cli/main.ts', ['ioredis']);

/** The exit and the output of a run. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running command. */
export interface Running {
  child: ChildProcessWithoutNullStreams;
  /** Its output so far. */
  text: { stdout: string; stderr: string };
  ended: Promise<Ended>;
  /** Resolves when it has written this number of lines. */
  wrote(lines: number): Promise<unknown>;
}

const running = new Set<Running['child']>();

/** Ends the commands that a failed test has left running. */
export async function endAll(): Promise<void> {
  await Promise.all(Array.from(running, killNow));
}

/** Starts the command. Its standard output is read at once, unless `reads` is false. */
export function start(
  args: readonly string[],
  {
    env = {},
    node = [command],
    reads = true,
  }: { env?: object; node?: readonly string[]; reads?: boolean } = {},
): Running {
  const child = spawn(process.execPath, [...node, ...args], {
    cwd: folder,
    env: { ...process.env, REDIS_URL: undefined, ...env },
  });
  killAtExit(child);
  child.ref();
  running.add(child);
  child.once('exit', () => running.delete(child));
  const text = { stdout: '', stderr: '' };
  if (reads) child.stdout.setEncoding('utf8').on('data', (part) => (text.stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part) => (text.stderr += part));
  // The command may end before it has read all of its input.
  child.stdin.on('error', () => {});
  const ended = once(child, reads ? 'close' : 'exit').then(([code]) => ({ code, ...text }));
  const wrote = (lines: number) =>
    until(`${lines} lines`, async () => text.stdout.split('\n').length > lines, { every: 5 });
  return { child, text, ended, wrote };
}

/** Runs the command with an input, and waits for its end. */
export function sluice(args: readonly string[], input = '', env: object = {}): Promise<Ended> {
  const { child, ended } = start(args, { env });
  child.stdin.end(input);
  return ended;
}

/** `count` numbered lines. */
export function numbered(count: number, prefix = ''): string {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}\n`).join('');
}

/** The timestamps of the lines of an output. */
export function momentsOf(stdout: string): number[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(/^\d{13}(?=\t)/.exec(line)?.[0]));
}

/** The shortest span that contains more than `permits` of the moments. */
export function shortestOver(moments: readonly number[], permits: number): number {
  const sorted = [...moments].sort((a, b) => a - b);
  return Math.min(...sorted.slice(permits).map((moment, i) => moment - sorted[i]));
}
