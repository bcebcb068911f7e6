import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const running = new Set<ChildProcess>();
const folders = new Set<string>();

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) removeFolder(folder);
});
// A signal ends a process without its `exit` event, unless the signal has a listener.
for (const [signal, code] of [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code));
}

/** Kills a running child when this process ends in any way that it can detect. */
export function killAtExit(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
  // A running server must not keep the tests from ending.
  child.unref();
}

/** Whether the child has ended, in any way. */
export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Kills the child, even a frozen one, and waits until it has ended. */
export async function killNow(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.ref();
    child.kill('SIGKILL');
    await gone;
  }
  // A process that the child has started may still hold its pipes, which would keep the tests from ending.
  for (const pipe of child.stdio) pipe?.destroy();
}

/** A new temporary folder, removed at the latest when this process ends. */
export function temporaryFolder(parent = tmpdir(), prefix = 'rxjs-sluice-'): string {
  const folder = mkdtempSync(join(parent, prefix));
  folders.add(folder);
  return folder;
}

/** Removes a folder that `temporaryFolder` made. */
export function removeFolder(folder: string): void {
  folders.delete(folder);
  // A server killed just before may have left a file half renamed.
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
