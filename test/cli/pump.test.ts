import { PassThrough, Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Output } from '../../src/cli/output.ts';
import { pump } from '../../src/cli/pump.ts';
import { RateLimiter, slidingWindow } from '../../src/index.ts';

/** A writable stream that accepts data when the test allows it. */
class Slow extends Writable {
  text = '';
  take = () => {};
  willing = false;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(part: Buffer, _encoding: string, done: () => void): void {
    this.text += part.toString();
    if (this.willing) done();
    else this.take = done;
  }
}

test('no permit is granted while the output is full', async () => {
  const limiter = new RateLimiter({ name: 'slow', limit: slidingWindow({ permits: 5, interval: 1_500 }) });
  const slow = new Slow();
  const tally = { lines: 0, waiting: 0 };
  const input = Readable.from([Buffer.from('1\n2\n3\n4\n5\n6\n7\n8\n')]);
  const options = { permits: 1, timeout: Infinity, timestamps: false };
  const pumped = pump(input, new Output(slow), limiter, options, tally);
  await sleep(1_700);
  assert.is(slow.text, '1\n2\n3\n4\n5\n');
  assert.equal(tally, { lines: 5, waiting: 3 });
  assert.is(limiter.stats().granted, 5);
  assert.is(limiter.stats().reserved + limiter.stats().queued, 0);
  assert.is(await limiter.availablePermits(), 5);
  slow.willing = true;
  slow.take();
  await pumped;
  assert.is(slow.text, '1\n2\n3\n4\n5\n6\n7\n8\n');
  await limiter.close();
});

test('permits are requested when a line has been read, and none for the end', async () => {
  const limiter = new RateLimiter({ name: 'idle', limit: slidingWindow({ permits: 2, interval: 60_000 }) });
  const slow = new Slow();
  slow.willing = true;
  const input = new PassThrough();
  const options = { permits: 1, timeout: Infinity, timestamps: false };
  const pumped = pump(input, new Output(slow), limiter, options, { lines: 0, waiting: 0 });
  await sleep(20);
  assert.is(await limiter.availablePermits(), 2);
  input.write('a\n');
  await sleep(20);
  assert.is(slow.text, 'a\n');
  assert.is(await limiter.availablePermits(), 1);
  input.end('b\n');
  await pumped;
  assert.is(slow.text, 'a\nb\n');
  await limiter.close();
});

test('the tally counts the passed and the waiting lines', async () => {
  for (const [taken, passed] of [
    [0, 2],
    [2, 0],
  ]) {
    const limiter = new RateLimiter({ name: 'few', limit: slidingWindow({ permits: 2, interval: 60_000 }) });
    if (taken > 0) await limiter.acquire(taken);
    const slow = new Slow();
    slow.willing = true;
    const tally = { lines: 0, waiting: 0 };
    const input = Readable.from([Buffer.from('1\n2\n3\n4\n')]);
    const options = { permits: 1, timeout: Infinity, timestamps: false };
    const pumped = pump(input, new Output(slow), limiter, options, tally);
    await sleep(20);
    assert.equal(tally, { lines: passed, waiting: 4 - passed });
    await limiter.close();
    await pumped.then(
      () => assert.unreachable(),
      ({ name }) => assert.is(name, 'LimiterClosedError'),
    );
  }
});

test.run();
