import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { until } from '../support/until.ts';
import { endAll, start } from './sluice.ts';

test.after.each(endAll);

const chunk = Buffer.from('y\n'.repeat(32_768));

/** Writes as fast as the reader allows until it is stopped, and counts the bytes that were read. */
function feed(stdin: NodeJS.WritableStream) {
  const fed = { bytes: 0, on: true };
  const write = () => {
    if (!fed.on) return;
    stdin.write(chunk, (error) => {
      if (error) return;
      fed.bytes += chunk.length;
      write();
    });
  };
  write();
  return fed;
}

/** The memory of a process in megabytes. */
function residentOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}

test('an endless input passes in constant memory', async () => {
  const { child, ended } = start(['--limit', '200000'], { reads: false });
  let read = 0;
  child.stdout.on('data', (part) => {
    read += part.length;
  });
  const fed = feed(child.stdin);
  await new Promise((resolve) => child.stdout.once('data', resolve));
  await sleep(500);
  const early = residentOf(child.pid!);
  await sleep(800);
  const late = residentOf(child.pid!);
  fed.on = false;
  child.kill('SIGINT');
  assert.is((await ended).code, 130);
  assert.ok(read >= 200_000, `${read} bytes passed`);
  assert.ok(late < early + 40 && late < 250, `from ${early} to ${late} MB`);
});

test('input is read no faster than the limit allows', async () => {
  const { child, ended, wrote } = start(['--limit', '10']);
  const fed = feed(child.stdin);
  await wrote(10);
  await sleep(500);
  assert.ok(fed.bytes < 1_000_000, `${fed.bytes} bytes taken`);
  child.kill('SIGINT');
  await ended;
});

test('input is read no faster than the output is', async () => {
  const { child, ended } = start(['--limit', '100000000'], { reads: false });
  const fed = feed(child.stdin);
  await new Promise((resolve) => child.stdout.once('readable', resolve));
  let before = -1;
  const stands = async () => {
    const same = fed.bytes === before;
    before = fed.bytes;
    return same;
  };
  await until('the input is not read', stands, { every: 300 });
  assert.ok(fed.bytes < 2_000_000, `${fed.bytes} bytes taken`);
  child.kill('SIGINT');
  await ended;
});

test.run();
