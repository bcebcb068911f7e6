import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { batchesOf } from '../../src/cli/lines.ts';
import { Output } from '../../src/cli/output.ts';
import { pump } from '../../src/cli/pump.ts';
import { RateLimiter, slidingWindow } from '../../src/index.ts';

async function batches(parts: (string | Buffer)[], most = 1024): Promise<string[][]> {
  const all: string[][] = [];
  for await (const batch of batchesOf(Readable.from(parts.map((part) => Buffer.from(part))), most))
    all.push(batch);
  return all;
}

/** A stream that takes what it is given only when told to. */
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

test('lines come in batches of those that are there', async () => {
  assert.equal(await batches(['a\nb\nc', 'd\n', '\n', 'e']), [['a', 'b'], ['cd'], [''], ['e']]);
  assert.equal(await batches(['a\nb\nc\n'], 2), [['a', 'b'], ['c']]);
  assert.equal(await batches([]), []);
});

test('a character whose bytes come apart stays whole', async () => {
  const bytes = Buffer.from('☃\n');
  const [[line]] = await batches([bytes.subarray(0, 1), bytes.subarray(1)]);
  assert.is(Buffer.from(line, 'latin1').toString(), '☃');
});

test('a line of many megabytes takes no more time for its length', async () => {
  const part = Buffer.alloc(65_536, 'x');
  const start = performance.now();
  const [[line]] = await batches([...new Array(800).fill(part), '\n']);
  assert.is(line.length, 800 * 65_536);
  assert.ok(performance.now() - start < 3_000);
});

test('nothing is granted while the output takes no more', async () => {
  const limiter = new RateLimiter({ name: 'slow', limit: slidingWindow({ permits: 5, interval: 50 }) });
  const slow = new Slow();
  const tally = { lines: 0, waiting: 0 };
  const input = Readable.from([Buffer.from('1\n2\n3\n4\n5\n6\n7\n8\n')]);
  const options = { permits: 1, timeout: Infinity, timestamps: false };
  const pumped = pump(input, new Output(slow), limiter, options, tally);
  await sleep(150);
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

test.run();
