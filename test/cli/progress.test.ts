import { spawnSync } from 'node:child_process';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Progress } from '../../src/cli/progress.ts';
import { command, numbered } from './sluice.ts';

test('it shows the lines so far, their rate over the last seconds, and the waiting lines', () => {
  let now = 0;
  let text = '';
  const tally = { lines: 0, waiting: 3 };
  const progress = new Progress({ write: (part) => (text += part) }, tally, () => now);
  const drawn = () => {
    text = '';
    progress.draw();
    return text;
  };
  assert.is(drawn(), '\r0 lines, 0.0/s, 3 waiting\x1b[K');
  now = 1_000;
  tally.lines = 50;
  assert.is(drawn(), '\r50 lines, 50.0/s, 3 waiting\x1b[K');
  now = 2_000;
  tally.lines = 1050;
  assert.is(drawn(), '\r1050 lines, 525/s, 3 waiting\x1b[K');
  now = 3_000;
  tally.waiting = 0;
  assert.is(drawn(), '\r1050 lines, 500/s, 0 waiting\x1b[K');
  now = 9_000;
  drawn();
  now = 11_000;
  assert.is(drawn(), '\r1050 lines, 0.0/s, 0 waiting\x1b[K');
  text = '';
  progress.clear();
  progress.clear();
  assert.is(text, '\r\x1b[K');
  progress.end();
  assert.ok(text.endsWith('0 waiting\x1b[K\n'));
});

/** The output of the command if its standard error is a terminal, and its standard output is not. */
function onTerminal(...args: string[]): string | undefined {
  const line = [process.execPath, command, '--limit', '5', '--interval', '100', ...args];
  const { error, stdout } = spawnSync('script', ['-qec', `${line.join(' ')} > /dev/null`, '/dev/null'], {
    input: numbered(20),
    encoding: 'utf8',
  });
  return error ? undefined : stdout;
}

test('progress is shown if standard error is a terminal, unless --quiet', () => {
  const shown = onTerminal();
  // Some machines have no `script` of util-linux.
  if (shown === undefined) return;
  assert.match(shown, /\r\d+ lines, \d+\.\d\/s, \d+ waiting/);
  assert.not.match(onTerminal('--quiet')!, 'lines');
});

test.run();
