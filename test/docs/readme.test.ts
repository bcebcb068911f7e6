import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { pageAt } from './pages.ts';

const { text } = pageAt('README.md');

test('the README names the two commands', () => {
  assert.match(text, /^npm ci && npm run demo\b/m);
  assert.match(text, /^npm ci && npm test\b/m);
});

test('the README has at most 250 lines: further subjects have pages of their own', () => {
  const lines = text.trimEnd().split('\n').length;
  assert.ok(lines <= 250, `${lines} lines`);
});

test.run();
