import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as assert from 'uvu/assert';
import { redisSuite } from './redisSuite.ts';

const test = redisSuite('processes');

/** The output of a program of `children/` that ended by itself. */
async function printed(program: string, url: string, timeout: number): Promise<string> {
  const register = new URL('../support/register.mjs', import.meta.url).href;
  const path = fileURLToPath(new URL(`./children/${program}`, import.meta.url));
  const args = ['--expose-gc', '--import', register, path, url];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout, killSignal: 'SIGKILL' });
  return stdout.trim();
}

test('a process whose limiter is closed ends by itself', async ({ server }) => {
  assert.is(await printed('leaves.ts', server.url, 20_000), 'closed');
  const keys = (await server.command('KEYS', '*')) as string[];
  for (const key of keys) assert.ok(Number(await server.command('PTTL', key)) > 0, key);
});

test('a million values from a synchronous source pass without a memory leak', async ({ server }) => {
  const { queued, perValue, left, values, inOrder } = JSON.parse(
    await printed('million.ts', server.url, 60_000),
  );
  assert.equal({ queued, values, inOrder }, { queued: 1_000_000, values: 1_000_000, inOrder: true });
  assert.ok(perValue < 200, `${perValue} bytes for each value in the queue`);
  assert.ok(left < 5_000_000, `${left} bytes remain`);
});

test.run();
