import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const src = fileURLToPath(new URL('../../src', import.meta.url));

/** The folders that each folder may import, besides itself and the files directly in `src`, except `index.ts`. */
const mayImport: Record<string, readonly string[]> = {
  '.': [],
  limits: [],
  stores: ['limits'],
  'stores/memory': ['stores', 'limits'],
  'stores/redis': ['stores', 'limits'],
  'stores/fallback': ['stores/memory', 'stores/redis', 'stores', 'limits'],
  clients: ['stores/redis'],
  port: ['stores', 'limits'],
  dispatcher: ['port', 'stores', 'limits'],
  limiter: ['dispatcher', 'port', 'stores/fallback', 'stores/memory', 'stores/redis', 'stores', 'limits'],
  redisson: ['limiter', 'port', 'stores/redis', 'stores', 'limits'],
  throttle: ['port', 'limits'],
  creation: ['throttle', 'limiter/acquisition.ts', 'limiter/acquireOptions.ts', 'port', 'limits'],
  operators: ['creation/permits.ts', 'throttle', 'limiter/acquireOptions.ts', 'port', 'limits'],
  cli: ['index.ts', 'limits'],
};

const files = readdirSync(src, { recursive: true })
  .map((file) => String(file).split(sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
const imports = new Map(files.map((file) => [file, importsOf(file)]));

/** The modules that a file names, types and re-exports included; those of `src` as paths in it. */
function importsOf(file: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(src, file), 'utf8'), true, true);
  return importedFiles
    .map(({ fileName }) => fileName)
    .map((name) => (name.startsWith('.') ? posix.join(dirname(file), name) : name));
}

/** The import cycle through a file, or nothing. */
function circleFrom(file: string, path: readonly string[], done: Set<string>): string[] | undefined {
  if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
  if (done.has(file)) return undefined;
  for (const imported of imports.get(file) ?? []) {
    const circle = circleFrom(imported, [...path, file], done);
    if (circle) return circle;
  }
  done.add(file);
  return undefined;
}

test('folders import each other in one direction', () => {
  for (const [file, imported] of imports) {
    if (file === 'index.ts') continue;
    const room = posix.dirname(file);
    assert.ok(mayImport[room], `${file} lies in a room that this test does not know`);
    for (const to of imported.filter((name) => files.includes(name))) {
      const shared = posix.dirname(to) === '.' && to !== 'index.ts';
      const allowed =
        shared || [room, ...mayImport[room]].some((one) => one === posix.dirname(to) || one === to);
      assert.ok(allowed, `${file} imports ${to}`);
    }
  }
});

test('no file imports itself through others, types included', () => {
  const done = new Set<string>();
  for (const file of files) assert.is(circleFrom(file, [], done)?.join(' > '), undefined);
});

test('stores and limits do not use rxjs', () => {
  for (const [file, imported] of imports)
    if (/^(stores|limits)\//.test(file))
      assert.not.ok(
        imported.some((name) => /^rxjs\b/.test(name)),
        file,
      );
});

test('index.ts only exports, and exports the port, the limiter and what is built on them', () => {
  const source = ts.createSourceFile(
    'index.ts',
    readFileSync(join(src, 'index.ts'), 'utf8'),
    ts.ScriptTarget.Latest,
  );
  for (const statement of source.statements) assert.ok(ts.isExportDeclaration(statement));
  for (const to of imports.get('index.ts')!) assert.not.match(to, /^(cli|dispatcher)\//);
});

test.run();
