import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Lines } from '../../src/cli/lines.ts';

/** The lines of a stream, grouped by the chunk in which they arrived. */
async function linesOf(parts: (string | Buffer)[]): Promise<string[][]> {
  const all: string[][] = [];
  const lines = new Lines(Readable.from(parts.map((part) => Buffer.from(part))));
  while (await lines.some()) {
    const { waiting } = lines;
    all.push([...lines]);
    assert.equal([all.at(-1)!.length, lines.waiting], [waiting, 0]);
  }
  return all;
}

test('iterating removes the lines that have been read', async () => {
  assert.equal((await linesOf(['a\nb\nc', 'd\n', '\n', 'e'])).flat(), ['a', 'b', 'cd', '', 'e']);
  assert.equal(await linesOf(['a\nb\nc\n']), [['a', 'b', 'c']]);
  assert.equal(await linesOf([]), []);
});

test('reading ahead is bounded', async () => {
  let read = 0;
  function* parts() {
    for (; ; read++) yield Buffer.from(`${'x'.repeat(999)}\n`.repeat(100));
  }
  const input = Readable.from(parts(), { highWaterMark: 1 });
  const lines = new Lines(input);
  await sleep(50);
  assert.ok(lines.waiting >= 400 && lines.waiting <= 700, `${lines.waiting} lines wait`);
  const before = read;
  for (const _ of lines) if (lines.waiting < 300) break;
  await sleep(50);
  assert.ok(lines.waiting >= 400 && read > before, `${lines.waiting} lines wait`);
  input.destroy();
});

test('an error of the input comes after the lines before it', async () => {
  async function* failing() {
    yield Buffer.from('a\n');
    throw new Error('broken');
  }
  const lines = new Lines(Readable.from(failing()));
  await sleep(20);
  assert.is(await lines.some(), true);
  assert.equal([...lines], ['a']);
  await lines.some().then(
    () => assert.unreachable(),
    (error) => assert.is(error.message, 'broken'),
  );
});

test('a character whose bytes are in two chunks is not split', async () => {
  const bytes = Buffer.from('☃\n');
  const [[line]] = await linesOf([bytes.subarray(0, 1), bytes.subarray(1)]);
  assert.is(Buffer.from(line, 'latin1').toString(), '☃');
});

test('a line of many megabytes takes time in proportion to its length', async () => {
  const part = Buffer.alloc(65_536, 'x');
  const start = performance.now();
  const [[line]] = await linesOf([...new Array(800).fill(part), '\n']);
  assert.is(line.length, 800 * 65_536);
  assert.ok(performance.now() - start < 3_000);
});

test.run();
