import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as library from '../../src/index.ts';
import { withoutBlocks } from './links.ts';
import { pageAt, root } from './pages.ts';

const sourceOf = (file: string) => readFileSync(`${root}src/${file}`, 'utf8');

/** The words of a page's code. */
function wordsOf(path: string): string[] {
  const spans = withoutBlocks(pageAt(path).text).match(/`[^`\n]+`/g) ?? [];
  return spans.flatMap((span) => span.match(/[\w$]+/g) ?? []);
}

const reference = new Set(['docs/api.md', 'docs/fallback.md', 'docs/redisson.md'].flatMap(wordsOf));
const readme = new Set(wordsOf('README.md'));

/** The names that are not among the words. */
function missing(names: Iterable<string>, words: Set<string>): string[] {
  return [...new Set(names)].filter((name) => !words.has(name));
}

/** The methods and properties of a class, without the port that the operators use. */
function membersOf({ prototype }: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor' && name !== 'line');
}

/** The fields of every exported options interface. */
function optionsInSources(): string[] {
  const exported = new Set(sourceOf('index.ts').match(/\w+/g));
  const files = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => Array.from(sourceOf(file).matchAll(/^export interface (\w+Options)\b.*?^}/gms)))
    .filter(([, name]) => exported.has(name))
    .flatMap(([body]) => Array.from(body.matchAll(/^ {2}(\w+)\??:/gm), ([, field]) => field));
}

test('the reference has every export and every member', () => {
  const classes = [library.RateLimiter, library.RateLimiterGroup, library.RedissonRateLimiter];
  assert.equal(missing([...Object.keys(library), ...classes.flatMap(membersOf)], reference), []);
});

test('the reference has every option', () => {
  const options = optionsInSources();
  assert.ok(options.length > 40, `only ${options.length} options were found`);
  assert.equal(missing(options, reference), []);
});

test('the reference has every error code', () => {
  const codes = sourceOf('errors.ts').match(/ERR_SLUICE_\w+/g) ?? [];
  assert.ok(codes.length >= 8, `only ${codes.length} codes were found`);
  assert.equal(missing(codes, reference), []);
});

test('the README names every function, and every member of a limiter', () => {
  const names = Object.keys(library).filter((name) => !name.endsWith('Error') && name !== 'RateType');
  assert.equal(missing([...names, ...membersOf(library.RateLimiter)], readme), []);
});

test.run();
