import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Likely } from '../../tools/mutate/likely.mjs';
import * as lua from '../../tools/mutate/lua.mjs';
import { outdatedEquivalents, tabled } from '../../tools/mutate/mutants.mjs';
import * as typescript from '../../tools/mutate/typescript.mjs';

function variants(text: string, { mutantsOf }: typeof lua): string[] {
  return mutantsOf(text).map(
    ({ start, end, replacement }) => text.slice(0, start) + replacement + text.slice(end),
  );
}

test('each change of the table applies in one place', () => {
  assert.ok(tabled().length > 10);
});

test('each equivalent mutant of the list exists', () => {
  assert.equal(outdatedEquivalents(), []);
});

test('changes the code of a script, not its comments and strings', () => {
  assert.equal(variants("if a < 2 and not b then error('a < 2') end -- a < 2", lua), [
    "if a <= 2 and not b then error('a < 2') end -- a < 2",
    "if a < 3 and not b then error('a < 2') end -- a < 2",
    "if a < 2 or not b then error('a < 2') end -- a < 2",
    "if a < 2 and  b then error('a < 2') end -- a < 2",
  ]);
  assert.equal(variants('local x = -1\ny.z = x', lua), ['local x = -2\ny.z = x', 'local x = -1\n']);
  // Without a line that begins or ends a block, a script does not run at all.
  for (const line of ['local function a(b)', 'for b in pairs(c) do', 'if b then c = d end'])
    assert.equal(variants(`  ${line}`, lua), []);
});

test('changes the code of a module, not its types', () => {
  assert.equal(variants('const a: 1 = 1;\ntype B = 2;', typescript), ['const a: 1 = 2;\ntype B = 2;']);
  assert.equal(variants('if (a >= b) c();', typescript), [
    'if (true) c();',
    'if (false) c();',
    'if (a > b) c();',
    'if (a >= b) ;',
  ]);
});

test('tries first the quick tests, and those that have detected the most of a source', () => {
  const tests = ['slow', 'quick', 'medium'];
  const likely = new Likely(
    new Map([
      ['slow', 5000],
      ['quick', 50],
      ['medium', 500],
    ]),
  );
  assert.equal(likely.sorted('one', tests), ['quick', 'medium', 'slow']);
  for (let i = 0; i < 100; i++) {
    likely.record('one', 'quick', false);
    likely.record('one', 'slow', true);
  }
  likely.record('other', 'medium', true);
  assert.equal(likely.sorted('one', tests), ['medium', 'slow', 'quick']);
  assert.equal(likely.sorted('other', tests), ['medium', 'slow', 'quick']);
});

test.run();
