import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const page = readFileSync(new URL('../../docs/guarantees.md', import.meta.url), 'utf8');

const guarantees = suite('docs/guarantees.md');

guarantees('names tests that exist, by their titles and files', () => {
  const named = page
    .replace(/\s+/g, ' ')
    .matchAll(/((?:"[^"]+"(?:,? and )?)+) in \[[^\]]+\]\(\.\.\/([^)]+)\)/g);
  let count = 0;
  for (const [, titles, file] of named) {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    for (const [, title] of titles.matchAll(/"([^"]+)"/g)) {
      assert.ok(source.includes(title), `${file} has a test ${JSON.stringify(title)}`);
      count++;
    }
  }
  assert.ok(count > 20, `only ${count} titles were found`);
});

guarantees.run();
