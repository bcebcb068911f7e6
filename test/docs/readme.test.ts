import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
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
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', './test/support/register.mjs', '--input-type=module', '--eval', code[1]],
    { cwd: root },
  );
  return stdout.trimEnd().split('\n');
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

readmeExamples('name the two commands', () => {
  assert.match(readme, /^npm ci && npm run demo\b/m);
  assert.match(readme, /^npm ci && npm test\b/m);
});

readmeExamples.run();
