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

test('the badges of the README are true', () => {
  const { license, engines, types, dependencies } = JSON.parse(pageAt('package.json').text);
  const [, badges] = /^# rxjs-sluice\n\n(.*)\n/.exec(text)!;
  const [, oldest] = /^>=(\d+)$/.exec(engines.node)!;
  assert.ok(types);
  assert.is(dependencies, undefined);
  assert.is(
    badges,
    `\`${license}\` \`Node ${oldest} or newer\` \`types included\` \`no runtime dependency\``,
  );
});

test('the README, the peers and the tests with the oldest peers name the same versions', () => {
  const { peerDependencies, devDependencies } = JSON.parse(pageAt('package.json').text);
  const { rxjs, ioredis } = peerDependencies;
  const oldest = (alias: string) => devDependencies[alias].split('@').at(-1);
  assert.is(rxjs, `^${oldest('rxjs-oldest')}`);
  assert.is(ioredis, `^${oldest('ioredis5')} || ^6.0.0`);
  assert.match(text, `\n| rxjs | ${oldest('rxjs-oldest')} |`);
  assert.match(text, `\n| ioredis | ${oldest('ioredis5')}, or 6 |`);
});

test.run();
