import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { parseArguments } from '../../src/cli/arguments.ts';
import { outcomeOf } from '../../src/cli/failure.ts';
import { fixedWindow, leakyBucket, slidingWindow, tokenBucket } from '../../src/index.ts';
import { endAll, sluice } from './sluice.ts';

test.after.each(endAll);
test.before.each(() => {
  delete process.env.REDIS_URL;
});

const parsed = (...args: string[]) => {
  const result = parseArguments(args);
  if (typeof result === 'string') throw new Error(result);
  return result;
};

test('--limit alone is a sliding window of a second in this process', () => {
  assert.equal(parsed('--limit', '100'), {
    limit: slidingWindow({ permits: 100, interval: 1_000 }),
    name: 'sluice',
    redis: undefined,
    redisson: false,
    permits: 1,
    timeout: Infinity,
    timestamps: false,
    quiet: false,
  });
});

test('every option is understood', () => {
  const { limit, ...rest } = parsed(
    ...['--limit=5', '--interval=200', '--name=n', '--redis=redis://h:1', '--permits=2', '--timeout=1.5'],
    ...['--timestamps', '--quiet', '--algorithm=token-bucket', '--burst=9'],
  );
  assert.equal(limit, tokenBucket({ permits: 5, interval: 200, burst: 9 }));
  assert.equal(rest, {
    name: 'n',
    redis: 'redis://h:1',
    redisson: false,
    permits: 2,
    timeout: 1.5,
    timestamps: true,
    quiet: true,
  });
});

test('the algorithms are those of the library', () => {
  const limit = (algorithm: string) => parsed('--limit', '5', '--algorithm', algorithm).limit;
  const rate = { permits: 5, interval: 1_000 };
  assert.equal(limit('sliding-window'), slidingWindow(rate));
  assert.equal(limit('fixed-window'), fixedWindow(rate));
  assert.equal(limit('token-bucket'), tokenBucket(rate));
  assert.equal(limit('leaky-bucket'), leakyBucket(rate));
});

test('REDIS_URL is the default of --redis', () => {
  process.env.REDIS_URL = 'rediss://user:secret@h:1/2';
  assert.is(parsed('--limit', '5').redis, 'rediss://user:secret@h:1/2');
  assert.is(parsed('--limit', '5', '--redis', 'redis://other').redis, 'redis://other');
  process.env.REDIS_URL = '';
  assert.is(parsed('--limit', '5').redis, undefined);
});

test('with --redisson the stored rate may be used', () => {
  const args = ['--redisson', '--redis=redis://h:1', '--permits=9'];
  const { limit, redisson } = parsed(...args);
  assert.equal([limit, redisson], [undefined, true]);
  assert.equal(parsed(...args, '--limit=5').limit, slidingWindow({ permits: 5, interval: 1_000 }));
});

const bad: [args: string[], says: RegExp][] = [
  [[], /--limit .*not specified/],
  [['--limit'], /--limit .*missing/],
  [['--limit', 'many'], /--limit .*'many' .*number/],
  [['--limit', ''], /--limit .*number/],
  [['--limit', '0'], /^sluice: --limit: expected a positive safe integer, got 0$/],
  [['--limit', '-5'], /--limit: .*got -5/],
  [['--limit', '1.5'], /--limit: .*got 1.5/],
  [['--limit', '30000000000000'], /--limit: expected --limit · --interval below 2\^53/],
  [['--limit', '5', '--interval', '0'], /--interval: .*got 0/],
  [['--limit', '5', '--interval', '1s'], /--interval .*'1s'/],
  [['--limit', '5', '--algorithm', 'magic'], /--algorithm .*'magic' .*sliding-window, fixed-window/],
  [['--limit', '5', '--burst', '9'], /--burst: .*token-bucket.*got sliding-window/],
  [['--limit', '5', '--algorithm', 'token-bucket', '--burst', '0'], /--burst: .*got 0/],
  [['--limit', '5', '--name', ''], /--name: .*non-empty/],
  [['--limit', '5', '--permits', '0'], /--permits: .*got 0/],
  [['--limit', '5', '--permits', '6'], /--permits: .*at most 5.*got 6/],
  [['--limit', '5', '--permits', '2', '--algorithm', 'leaky-bucket'], /--permits: .*at most 1.*got 2/],
  [['--limit', '5', '--timeout', '-1'], /--timeout: .*got -1/],
  [['--limit', '5', '--timeout', 'soon'], /--timeout .*'soon'/],
  [
    ['--limit', '5', '--redis', ''],
    /--redis: expected a URL such as redis:\/\/localhost:6379, got none; leave it out, and REDIS_URL empty, for/,
  ],
  [['--limit', '5', '--redis='], /--redis: .*got none/],
  [['--redisson', '--redis='], /--redis: .*got none/],
  [['--limit', '5', '--redis', 'localhost'], /--redis .*redis:\/\//],
  [['--limit', '5', '--redis', 'http://u:secret@h'], /^(?!.*secret).*--redis .*redis:\/\//],
  [['--limit', '5', '--redis', 'redis://u:secret@h/jobs'], /^(?!.*secret).*--redis .*database number/],
  [['--redisson'], /--redisson: expected --redis .*got none/],
  [
    ['--redisson', '--redis=redis://h', '--algorithm=fixed-window'],
    /--algorithm: .*sliding-window.*got fixed/,
  ],
  [
    ['--redisson', '--redis=redis://h', '--burst=5'],
    /^sluice: --burst: expected none with --redisson, got 5$/,
  ],
  [['--redisson', '--redis=redis://h', '--limit=2', '--burst=5'], /--burst: expected none with --redisson/],
  [['--redisson', '--redis=redis://h', '--interval=-5'], /--interval: expected --limit with it, got none$/],
  [['--redisson', '--redis=redis://h', '--interval=9'], /--interval: expected --limit with it, got none$/],
  [['--redisson', '--redis=redis://h', '--limit=2', '--interval=-5'], /--interval: .*got -5/],
  [['--limit', '5', '--lmit', '6'], /--lmit.*--limit/],
  [['--limit', '5', '6'], /too many arguments/],
];
for (const [args, says] of bad)
  test(`refused with one line: ${args.join(' ') || 'nothing'}`, () => {
    let error: unknown;
    try {
      parseArguments(args);
    } catch (caught) {
      error = caught;
    }
    const { code, message } = outcomeOf(error);
    assert.is(code, 2);
    assert.match(message!, says);
    assert.not.match(message!, /\n/);
  });

test('invalid arguments end the command with 2 and one line on standard error', async () => {
  const runs = await Promise.all([
    sluice(['--limit', '5', '--lmit', '6'], 'a\n'),
    sluice(['--limit', '5', '--burst', '2\n'], 'a\n'),
  ]);
  for (const { code, stdout, stderr } of runs) {
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.match(stderr, /^sluice: .*--(lmit|burst).*\n$/);
  }
});

test('--version prints the version', () => {
  assert.match(String(parseArguments(['--version'])), /^\d+\.\d+\.\d+\n$/);
});

test('--help prints every option on standard output, and ends with 0', async () => {
  const { code, stdout, stderr } = await sluice(['--help']);
  assert.equal([code, stderr], [0, '']);
  assert.match(stdout, /^Usage: sluice/);
  for (const option of ['limit', 'interval', 'algorithm', 'burst', 'name', 'redis', 'permits', 'timeout'])
    assert.match(stdout, `--${option} <`);
  assert.match(stdout, '--timestamps');
  assert.match(stdout, '--redisson');
  assert.match(stdout, '--quiet');
});

test.run();
