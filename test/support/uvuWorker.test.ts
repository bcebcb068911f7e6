import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { removeFolder, temporaryFolder } from './leftovers.ts';
import { type UvuOutcome, UvuWorker } from './uvuWorker.mjs';

const importUvu = `import { test } from ${JSON.stringify(import.meta.resolve('uvu'))};`;
const endless = `setInterval(() => {}, 1000);`;

interface Ran extends UvuOutcome {
  printed: string;
  /** The error at the end of the process. */
  ending: string | undefined;
}

/** Runs some bodies of test files in one process, until it ends. */
async function outcomesOf(bodies: string[], { limit = 30_000, grace = 20_000 } = {}): Promise<Ran[]> {
  const folder = temporaryFolder();
  const worker = new UvuWorker();
  const outcomes: Ran[] = [];
  for (const [i, body] of bodies.entries()) {
    const file = join(folder, `${i}.test.mjs`);
    writeFileSync(file, `${importUvu}\n${body}\ntest.run();\n`);
    let printed = '';
    const outcome = await worker.run({ file, seed: 7, scale: 1, limit, write: (text) => (printed += text) });
    outcomes.push({ ...outcome, printed, ending: undefined });
  }
  outcomes[outcomes.length - 1].ending = await worker.end(grace);
  removeFolder(folder);
  return outcomes;
}

test('counts tests file by file, and separates their output', async () => {
  const one = `test('one', () => {}); test('two', () => { throw new Error('broken'); }); test.skip('three', () => {});`;
  const two = `test('seeded', () => { console.log('here ' + process.env.SLUICE_SEED); });`;
  const [first, second] = await outcomesOf([one, two]);
  assert.is([first.passed, first.failed, first.skipped].join(), '1,1,1');
  assert.match(first.printed, 'broken');
  assert.not.match(first.printed, /\d+ \/ \d+/);
  assert.is([second.passed, second.failed, second.skipped].join(), '1,0,0');
  assert.match(second.printed, 'here 7');
  assert.not.match(second.printed, 'broken');
  assert.ok(first.wall! > 0 && first.cpu! > 0);
  assert.is(second.ending, undefined);
});

test('a test that awaits for ever is a failure', async () => {
  const [{ failed, cause }] = await outcomesOf([`test('hangs', () => new Promise(() => {}));`]);
  assert.is(failed, 1);
  assert.match(cause!, 'before its tests had');
});

test('a file that throws on import is a failure', async () => {
  const [{ failed, cause, printed }] = await outcomesOf([
    `test('one', () => {}); throw new Error('broken');`,
  ]);
  assert.is(failed, 1);
  assert.match(cause!, 'before its tests had');
  assert.match(printed, 'broken');
});

test('a process that dies after its tests is a failure', async () => {
  const late = `setTimeout(() => { throw new Error('late'); }, 300);`;
  const [{ passed, failed, ending }] = await outcomesOf([`test('one', () => { ${late} });`]);
  assert.is(passed, 1);
  assert.is(failed, 0);
  assert.match(ending!, 'after its tests');
});

test('a process that does not end is killed, and is a failure', async () => {
  const hangs = `test('one', () => { ${endless} return new Promise(() => {}); });`;
  const [during] = await outcomesOf([hangs], { limit: 1_500 });
  assert.is(during.failed, 1);
  assert.match(during.cause!, 'did not end within 1.5 s');
  const [after] = await outcomesOf([`test('one', () => { ${endless} });`], { grace: 3_000 });
  assert.match(after.ending!, /still alive .* because of .*Timeout/);
});

test('a file without tests is a failure', async () => {
  assert.is((await outcomesOf(['']))[0].cause, 'ran no test');
});

test.run();
