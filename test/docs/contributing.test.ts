import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pageAt } from './pages.ts';

const contributing = pageAt('CONTRIBUTING.md').text;
const { scripts } = JSON.parse(pageAt('package.json').text) as { scripts: Record<string, string> };

test('CONTRIBUTING.md names every script', () => {
  // npm itself runs the one that begins with `pre`.
  const names = Object.keys(scripts).filter((name) => name !== 'prepack');
  const missing = names.filter((name) => !new RegExp(`npm (run )?${name}(?![\\w:-])`).test(contributing));
  assert.equal(missing, []);
});

test('CONTRIBUTING.md names no script that does not exist', () => {
  const named = Array.from(contributing.matchAll(/npm run ([\w:]+)/g), ([, name]) => name);
  assert.equal(
    named.filter((name) => !(name in scripts)),
    [],
  );
});

test.run();
