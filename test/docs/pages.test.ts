import { existsSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anchorsOf, brokenLinks, linksOf, wrongAddresses } from './links.ts';
import { pageAt, pages, root } from './pages.ts';

/** The pages that name tests, and the least number of titles of each. */
const leastTitles: Record<string, number> = { 'docs/guarantees.md': 65, 'docs/redisson.md': 20 };
/** The pages of the repository that are not in the package. */
const others = ['CONTRIBUTING.md', 'CHANGELOG.md', 'examples/README.md'].map(pageAt);
/** A path of the repository in backticks: a file, or a folder with a slash at its end. */
const pathInCode = /`((?:src|lua|test|tools|bench|demo|docs|examples)\/[\w./-]*(?:\/|\.\w+))`/g;

for (const page of [...pages, ...others]) {
  const test = suite(page.path);

  test('has links to existing targets', () => assert.equal(brokenLinks(page), []));

  test('has well-formed links to other sites', () => assert.equal(wrongAddresses(page), []));

  test('names files and folders that exist', () => {
    const missing = Array.from(page.text.matchAll(pathInCode), ([, path]) => path).filter(
      (path) => !existsSync(root + path),
    );
    assert.equal(missing, []);
  });

  test('names existing tests by their titles and files', () => {
    const named = page.text
      .replace(/\s+/g, ' ')
      .matchAll(/((?:"[^"]+"(?:,? and |, )?)+) in `(test\/[^`]+)`/g);
    let count = 0;
    for (const [, titles, file] of named) {
      const source = readFileSync(root + file, 'utf8');
      for (const [, title] of titles.matchAll(/"([^"]+)"/g)) {
        assert.ok(source.includes(title), `${file} has a test ${JSON.stringify(title)}`);
        count++;
      }
    }
    assert.ok(count >= (leastTitles[page.path] ?? 0), `only ${count} titles were found`);
  });

  test.run();
}

const links = suite('the check of links');

links('an anchor is that of a heading, as GitHub makes it', () => {
  const text = '# `wrap(fn, options?)`\n## What this is not\n## Twice\n```sh\n# no heading\n```\n## Twice\n';
  assert.equal([...anchorsOf(text)], ['wrapfn-options', 'what-this-is-not', 'twice', 'twice-1']);
});

links('only relative links outside code count', () => {
  const text = '[a](b.md#c) [d](https://e.example) `[f](g)` [h](#i)\n```ts\n[j](k)\n```\n';
  assert.equal(linksOf({ path: 'README.md', text }), [
    { target: 'b.md', anchor: 'c' },
    { target: '', anchor: 'i' },
  ]);
});

links('reports an address that is none', () => {
  const text =
    '[a](https://e.example/a#b) [b](http://e.example) [c](https://e) [d](https://e.example/a b) <htps://e.example>';
  assert.equal(wrongAddresses({ path: 'README.md', text }), [
    'README.md: http://e.example',
    'README.md: https://e',
    'README.md: https://e.example/a b',
    'README.md: htps://e.example',
  ]);
});

links('reports a broken link, and a link out of the package', () => {
  const text =
    '[a](docs/none.md) [b](test/run.mjs) [c](docs/redisson.md#none) [d](docs/redisson.md) [e](#none)';
  assert.equal(brokenLinks({ path: 'README.md', text }), [
    'README.md: docs/none.md: no such file',
    'README.md: test/run.mjs: not in the package',
    'README.md: docs/redisson.md#none: no such heading',
    'README.md: #none: no such heading',
  ]);
  assert.equal(brokenLinks({ path: 'CONTRIBUTING.md', text: '[b](test/run.mjs)' }), []);
});

links.run();
