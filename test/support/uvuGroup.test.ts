import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { removeFolder, temporaryFolder } from './leftovers.ts';
import { runGroup, type UvuOutcome } from './uvuGroup.mjs';

const importUvu = `import { test } from ${JSON.stringify(import.meta.resolve('uvu'))};`;

async function outcomeOf(body: string, times = { limit: 30_000, grace: 20_000 }): Promise<UvuOutcome> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'one.test.mjs'), `${importUvu}\n${body}\ntest.run();\n`);
  const outcome = await runGroup({ folder, files: ['one.test.mjs'], write: () => {}, ...times });
  removeFolder(folder);
  return outcome;
}

test('tests are counted', async () => {
  const outcome = await outcomeOf(`
    test('one', () => {});
    test('two', () => { throw new Error('two'); });
    test.skip('three', () => {});
  `);
  assert.equal(outcome, { passed: 1, failed: 1, skipped: 1, cause: undefined });
});

test('a test that awaits what never comes is a failure', async () => {
  const { failed, cause } = await outcomeOf(`test('hangs', () => new Promise(() => {}));`);
  assert.is(failed, 1);
  assert.match(cause!, 'before its tests had');
});

test('a file that throws when it is imported is a failure', async () => {
  const { failed, cause } = await outcomeOf(`test('one', () => {}); throw new Error('broken');`);
  assert.is(failed, 1);
  assert.match(cause!, 'before its tests had');
});

test('a process that dies after its tests is a failure', async () => {
  const late = `setTimeout(() => { throw new Error('late'); }, 300);`;
  const { passed, failed, cause } = await outcomeOf(`test('one', () => { ${late} });`);
  assert.is(passed, 1);
  assert.is(failed, 1);
  assert.match(cause!, 'after its tests');
});

test('a process that does not end is ended, and is a failure', async () => {
  const endless = `setInterval(() => {}, 1000);`;
  const during = await outcomeOf(`test('one', () => { ${endless} return new Promise(() => {}); });`, {
    limit: 1_500,
    grace: 300,
  });
  assert.is(during.failed, 1);
  assert.match(during.cause!, 'did not end within 1.5 s');
  const after = await outcomeOf(`test('one', () => { ${endless} });`, { limit: 30_000, grace: 300 });
  assert.is(after.failed, 1);
  assert.match(after.cause!, 'still alive');
});

test('a file without tests is a failure', async () => {
  assert.match((await outcomeOf('')).cause!, 'ran no test');
});

test.run();
