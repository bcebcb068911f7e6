import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { command, endAll, numbered, sluice, start } from './sluice.ts';

test.after.each(endAll);

/** The longest time of an immediate end, in ms, on a busy machine. */
const atOnce = 1_500;

async function interrupted(signal: 'SIGINT' | 'SIGTERM') {
  const { child, ended, wrote } = start(['--limit', '2', '--interval', '60000']);
  child.stdin.write(numbered(10));
  await wrote(2);
  const sent = performance.now();
  child.kill(signal);
  return { ...(await ended), within: performance.now() - sent };
}

test('SIGINT ends it at once with 130, and SIGTERM with 143', async () => {
  const runs = await Promise.all([interrupted('SIGINT'), interrupted('SIGTERM')]);
  for (const [i, { within, ...run }] of runs.entries()) {
    assert.equal(run, { code: [130, 143][i], stdout: '0\n1\n', stderr: '' });
    assert.ok(within < atOnce);
  }
});

test('SIGINT ends it at once while its output is not read', async () => {
  const { child, ended } = start(['--limit', '10000000'], { reads: false });
  child.stdin.write('x'.repeat(99).concat('\n').repeat(20_000));
  await new Promise((resolve) => child.stdout.once('readable', resolve));
  const sent = performance.now();
  child.kill('SIGINT');
  assert.is((await ended).code, 130);
  assert.ok(performance.now() - sent < atOnce);
});

test('a closed output ends it with 0', async () => {
  const { child, ended, wrote, text } = start(['--limit', '1', '--interval', '100']);
  child.stdin.write(numbered(1000));
  await wrote(3);
  child.stdout.destroy();
  assert.is((await ended).code, 0);
  assert.is(text.stderr, '');
});

test('a closed output or error stream changes no exit code', async () => {
  for (const [args, closed, code] of [
    [['--help'], 'stdout', 0],
    [['--version'], 'stdout', 0],
    [['--limit', 'x'], 'stderr', 2],
  ] as const) {
    const { child, ended, text } = start(args);
    child[closed].destroy();
    assert.is((await ended).code, code, `${args}`);
    assert.is(text.stderr, '');
  }
});

test('a line that cannot pass within --timeout ends it with 1 and one line', async () => {
  const { code, stdout, stderr } = await sluice(
    ['--limit', '2', '--interval', '60000', '--timeout', '50'],
    numbered(5),
  );
  assert.is(code, 1);
  assert.is(stdout, '0\n1\n');
  assert.match(stderr, /^sluice: .*within 50 ms.*\n$/);
});

test('it ends after the last line, and does not wait for another permit', async () => {
  for (const more of [[], ['--timeout', '50']]) {
    const { code, stdout } = await sluice(['--limit', '5', '--interval', '60000', ...more], numbered(5));
    assert.equal([code, stdout], [0, numbered(5)]);
  }
});

test('--timeout applies to the first waiting line', async () => {
  const { code, stdout } = await sluice(
    ['--limit', '2', '--interval', '100', '--timeout', '250'],
    numbered(10),
  );
  assert.is(code, 0);
  assert.is(stdout, numbered(10));
});

test('a Redis that cannot be reached ends it with 1 and one line', async () => {
  const { code, stdout, stderr } = await sluice(['--limit', '2'], 'a\n', {
    REDIS_URL: 'redis://localhost:1',
  });
  assert.equal([code, stdout], [1, '']);
  assert.match(stderr, /^sluice: Redis cannot be reached: .*ECONNREFUSED.*\n$/);
});

test('without ioredis, --redis ends it with 2 and a line with the package to install', async () => {
  const hook = `export const resolve = (name, context, next) => next(name === 'ioredis' ? 'not-installed' : name, context);`;
  const registered = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(registered)}`, command];
  const { child, ended } = start(['--limit', '2', '--redis', 'redis://127.0.0.1:1'], { node });
  child.stdin.end('a\n');
  const { code, stderr } = await ended;
  assert.is(code, 2);
  assert.match(stderr, /^sluice: .*npm install ioredis\n$/);
});

test.run();
