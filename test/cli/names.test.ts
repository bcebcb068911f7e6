import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const read = (file: string) => JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
const { name, bin } = read('package.json') as { name: string; bin: Record<string, string> };

test("the command has the package's name, which npx looks for, and a short one", () => {
  assert.equal(Object.keys(bin).sort(), [name, 'sluice'].sort());
  assert.equal(new Set(Object.values(bin)).size, 1, 'both are one file');
});

test('the lock file contains both names', () => {
  const { packages } = read('package-lock.json') as { packages: Record<string, { bin: object }> };
  assert.equal(Object.keys(packages[''].bin).sort(), Object.keys(bin).sort());
});

test.run();
