import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** The pages that name tests, and how many titles each names at least. */
const pages: [string, number][] = [
  ['guarantees.md', 45],
  ['redisson.md', 16],
];

for (const [name, least] of pages) {
  const page = readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
  const test = suite(`docs/${name}`);

  test('names tests that exist, by their titles and files', () => {
    const named = page
      .replace(/\s+/g, ' ')
      .matchAll(/((?:"[^"]+"(?:,? and |, )?)+) in \[[^\]]+\]\(\.\.\/([^)]+)\)/g);
    let count = 0;
    for (const [, titles, file] of named) {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
      for (const [, title] of titles.matchAll(/"([^"]+)"/g)) {
        assert.ok(source.includes(title), `${file} has a test ${JSON.stringify(title)}`);
        count++;
      }
    }
    assert.ok(count >= least, `only ${count} titles were found`);
  });

  test.run();
}
