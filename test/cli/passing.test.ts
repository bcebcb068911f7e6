import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { endAll, momentsOf, numbered, shortestOver, sluice } from './sluice.ts';

test.after.each(endAll);

test('every line passes, in order, and the end of input ends it with 0', async () => {
  const input = numbered(20_000);
  const { code, stdout, stderr } = await sluice(['--limit', '100000'], input);
  assert.is(code, 0);
  assert.ok(stdout === input, 'the output is the input');
  assert.is(stderr, '');
});

test('an empty input has no lines', async () => {
  assert.equal(await sluice(['--limit', '1']), { code: 0, stdout: '', stderr: '' });
});

test('empty lines, carriage returns, any characters, and a last line without a newline pass', async () => {
  const { code, stdout } = await sluice(['--limit', '100', '--quiet'], '\n\nnaïve ☃ 🚰\r\n\t x \n\nlast');
  assert.is(code, 0);
  assert.is(stdout, '\n\nnaïve ☃ 🚰\r\n\t x \n\nlast\n');
});

test('--timestamps puts granted moments before the lines, which never exceed the limit', async () => {
  const { code, stdout } = await sluice(['--limit=20', '--interval=100', '--timestamps'], numbered(130));
  assert.is(code, 0);
  assert.is(stdout.replaceAll(/^\d{13}\t/gm, ''), numbered(130));
  const moments = momentsOf(stdout);
  assert.equal(
    [...moments].sort((a, b) => a - b),
    moments,
  );
  assert.ok(shortestOver(moments, 20) >= 100);
});

test('a line costs --permits, of the limit of --algorithm and --burst', async () => {
  const bucket = ['--limit=1', '--interval=500', '--algorithm=token-bucket', '--burst=4', '--permits=2'];
  const { stdout } = await sluice([...bucket, '--timestamps'], numbered(3));
  const [first, second, third] = momentsOf(stdout);
  assert.ok(second - first < 499, 'the bucket is full at first');
  assert.ok(third - first >= 999, 'then two permits take two intervals');
});

test('an empty REDIS_URL counts as none', async () => {
  assert.equal(await sluice(['--limit', '10'], 'a\n', { REDIS_URL: '' }), {
    code: 0,
    stdout: 'a\n',
    stderr: '',
  });
});

test('an empty --redis passes no line, whatever REDIS_URL is', async () => {
  const args = ['--limit', '10', '--redis', ''];
  const runs = await Promise.all(
    ['', 'redis://127.0.0.1:1'].map((REDIS_URL) => sluice(args, 'a\n', { REDIS_URL })),
  );
  for (const { code, stdout, stderr } of runs) {
    assert.equal([code, stdout], [2, '']);
    assert.match(stderr, /^sluice: --redis: expected .* got none; .*\n$/);
  }
});

test.run();
