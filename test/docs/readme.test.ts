import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(`${root}/README.md`, 'utf8');

/** Runs an example of the README as it is printed, and answers the lines that it prints. */
async function printedBy(name: string): Promise<string[]> {
  const code = new RegExp(`<!-- example: ${name} -->\n\`\`\`ts\n([^]*?)\n\`\`\``).exec(readme);
  assert.ok(code, `the README has an example ${name}`);
  // In the tree, where its imports are found.
  const folder = mkdtempSync(join(root, '.readme-'));
  try {
    const file = join(folder, 'example.mts');
    writeFileSync(file, code[1]);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', './test/support/register.mjs', file],
      { cwd: root, env: { ...process.env, FORCE_COLOR: '0' } },
    );
    return stdout.trimEnd().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const readmeExamples = suite('the examples of the README');

readmeExamples('the first runs as printed: five values a second', async () => {
  const seconds = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2];
  assert.equal(
    await printedBy('first'),
    seconds.map((second, i) => `${i + 1} in second ${second}`),
  );
});

readmeExamples('the marbles are as drawn', async () => {
  assert.equal(await printedBy('marbles'), ['as drawn']);
});

readmeExamples('pages are fetched as their permits come', async () => {
  const pages = [1, 2, 3, 4, 5].flatMap((page) => [
    `page ${page} is fetched`,
    `page ${page} in half-second ${Math.floor((page - 1) / 2)}`,
  ]);
  assert.equal(await printedBy('pull'), [...pages, 'closed']);
});

readmeExamples('keys keep their order, and none waits for another one', async () => {
  const printed = await printedBy('group');
  const of = (second: number) =>
    printed.filter((line) => line.endsWith(`second ${second}`)).map((line) => line.split(' in')[0]);
  assert.equal([of(0), of(1), of(2)], [['acme 1', 'acme 2', 'zoo 1'], ['acme 3', 'zoo 2'], ['zoo 3']]);
});

readmeExamples('calls of functions and methods wait, or are refused', async () => {
  assert.equal(await printedBy('wrap'), [
    'hello Ada in second 0',
    'hello Bob! in second 0',
    'hello Cleo in second 1',
    'mail to Ada in second 1',
    'mail to Bob in second 1',
    'mail to Cleo in second 1',
    'fulfilled, fulfilled, fulfilled, rejected',
  ]);
});

readmeExamples('tokens are estimated, and settled', async () => {
  assert.equal(await printedBy('llm'), ['SUM UP', 'TRANSLATE', 'RHYME', '{ requests: 57, tokens: 98000 }']);
});

readmeExamples('a stored rate reaches those who wait', async () => {
  const printed = await printedBy('rate');
  assert.equal(printed.slice(0, 2), ['it came sooner', 'false']);
  assert.match(printed.slice(2).join(' '), /permits: 100,\s+interval: 1000,.*stored: true/s);
});

readmeExamples('an answer with Retry-After lets everyone hold', async () => {
  assert.equal(await printedBy('pause'), [
    'a date that is past: 0 ms',
    'page 1 in second 0',
    'page 2 in second 0',
    'page 4 in second 1',
    'page 5 in second 3',
    'page 6 in second 3',
    'page 3 in second 4',
  ]);
});

readmeExamples('events tell what happens', async () => {
  assert.equal(await printedBy('events'), [
    'queued',
    'granted by memory',
    'queued',
    'denied, for 60 s',
    'refunded',
    'paused',
  ]);
});

readmeExamples('a limiter goes on without Redis', async () => {
  assert.equal(await printedBy('fallback'), [
    'limiter "api": Redis cannot be reached: connect ECONNREFUSED 127.0.0.1:1',
    'fallback, fallback',
    '2 of 5 are left',
  ]);
});

readmeExamples('name the two commands', () => {
  assert.match(readme, /^npm ci && npm run demo\b/m);
  assert.match(readme, /^npm ci && npm test\b/m);
});

readmeExamples.run();
