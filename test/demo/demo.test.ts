import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { killAtExit } from '../support/leftovers.ts';
import { startRedis } from '../support/redisServer.ts';

const folder = fileURLToPath(new URL('../..', import.meta.url));
const lines = 60;

/** Runs the demo to its end, without a terminal. */
async function demo(command: string, args: string[], url: string) {
  const env = { ...process.env, REDIS_URL: url, DEMO_LINES: String(lines) };
  const child = spawn(command, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  killAtExit(child);
  child.ref();
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (part) => (stdout += part));
  child.stderr.setEncoding('utf8').on('data', (part) => (stderr += part));
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

function check({ code, stdout, stderr }: Awaited<ReturnType<typeof demo>>, where: string) {
  assert.is(code, 0, stderr);
  assert.match(stdout, where);
  assert.not.ok(stdout.includes('\x1b'), 'plain lines');
  const tallies = Array.from(stdout.matchAll(/(\d+) × 200 +(\d+) × 429 +in/g), ([, ok, refused]) => [
    Number(ok),
    Number(refused),
  ]);
  assert.is(tallies.length, 2);
  const [[fastOk, fastRefused], limited] = tallies;
  assert.is(fastOk + fastRefused, lines);
  assert.ok(fastRefused > 0);
  assert.equal(limited, [lines, 0]);
}

test('npm run demo needs no server: refused when it is too fast, never refused through the limiter', async () => {
  check(await demo('npm', ['run', 'demo'], ''), 'one process');
});

// After the one that builds what it runs.
test('with REDIS_URL three processes share one limit', async () => {
  const server = await startRedis();
  check(await demo(process.execPath, ['demo/demo.mjs'], server.url), '3 processes');
  await server.stop();
});

test('a reader that has seen enough ends it quietly', async () => {
  const server = await startRedis();
  for (const url of ['', server.url]) {
    const env = { ...process.env, REDIS_URL: url, DEMO_LINES: '20' };
    const child = spawn(process.execPath, ['demo/demo.mjs'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    killAtExit(child);
    child.ref();
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (part) => (stderr += part));
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = await once(child, 'close');
    assert.equal([code, stderr], [0, '']);
  }
  await server.stop();
});

test('a database that Redis does not have is said in one line', async () => {
  const server = await startRedis();
  const { code, stderr } = await demo(process.execPath, ['demo/demo.mjs'], `${server.url}/99`);
  assert.is(code, 1);
  assert.match(stderr, /^demo: REDIS_URL: .*out of range.*\n$/);
  await server.stop();
});

test('a Redis that cannot be reached is said in one line', async () => {
  const { code, stderr } = await demo(process.execPath, ['demo/demo.mjs'], 'redis://127.0.0.1:1');
  assert.is(code, 1);
  assert.match(stderr, /^demo: REDIS_URL: .*ECONNREFUSED.*\n$/);
});

test.run();
