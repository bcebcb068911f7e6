import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const register = new URL('./register.mjs', import.meta.url).href;
const uvu = fileURLToPath(new URL('../../node_modules/uvu/bin.js', import.meta.url));
const summary = /^ *Total: +(\d+)\n *Passed: +(\d+)\n *Skipped: +(\d+)\n *Duration: /m;

/**
 * Runs some uvu files in a process of their own, one after the other, and counts. A process that dies, hangs or ends
 * before it has told its numbers counts as a failure: uvu itself ends quietly when a test awaits what never comes.
 */
export function runGroup({ folder, files, write, limit, grace = 20_000 }) {
  const pattern = `^(${files.map((file) => file.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})$`;
  const colours = process.stdout.isTTY ? [] : ['--no-color'];
  const child = spawn(process.execPath, ['--import', register, uvu, ...colours, folder, pattern], {
    // A process group of its own, so that the servers its tests have started can be ended with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });

  const kill = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  };
  process.once('exit', kill);

  let tail = '';
  let cause;
  const killBecause = (reason) => {
    cause = reason;
    kill();
  };
  let timer = setTimeout(killBecause, limit, `did not end within ${limit / 1000} s`);
  let counts;
  const heard = (chunk) => {
    write(chunk);
    if (counts) return;
    tail += stripVTControlCharacters(chunk);
    counts = summary.exec(tail);
    // The summary may come in pieces, but is never longer than this.
    tail = tail.slice(-1000);
    if (!counts) return;
    clearTimeout(timer);
    timer = setTimeout(killBecause, grace, `was still alive ${grace / 1000} s after its tests`);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', heard);

  return new Promise((resolve) => {
    child.on('error', (error) => killBecause(`did not start: ${error.message}`));
    child.on('exit', kill);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      process.off('exit', kill);
      const [total, passed, skipped] = (counts ?? []).slice(1).map(Number);
      const failed = counts ? total - passed : 0;
      if (!counts) cause ??= `ended (${signal ?? `code ${code}`}) before its tests had`;
      else if (total === 0) cause ??= 'ran no test';
      else if (code !== 0 && failed === 0) cause ??= `ended with ${signal ?? `code ${code}`} after its tests`;
      resolve({ passed: passed ?? 0, failed: failed + (cause ? 1 : 0), skipped: skipped ?? 0, cause });
    });
  });
}
