import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assemble, filesIn } from '../../tools/lua.mjs';

/*
 * The sources as Node runs them. A run starts dozens of processes, and each needs most of the sources: so the result of each
 * compilation is kept on disk, by the contents of the source.
 */

const cache =
  process.env.SLUICE_CACHE ??
  fileURLToPath(new URL('../../node_modules/.cache/rxjs-sluice', import.meta.url));
const lua = fileURLToPath(new URL('../../lua', import.meta.url));
const own = [
  './compiled.mjs',
  ...readdirSync(new URL('../../tools/', import.meta.url))
    .filter((name) => /^lua\w*\.mjs$/.test(name))
    .map((name) => `../../tools/${name}`),
  '../../node_modules/esbuild/package.json',
];
const version = digest(own.map((file) => readFileSync(new URL(file, import.meta.url), 'utf8')));

/** @param {string[]} texts */
function digest(texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text.length} ${text}`);
  return hash.digest('hex').slice(0, 32);
}

/**
 * The kept result for these texts, or a new one.
 *
 * @param {string[]} texts
 * @param {() => string | Promise<string>} make
 */
async function kept(texts, make) {
  const file = join(cache, digest([version, ...texts]));
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It is new.
  }
  const made = await make();
  mkdirSync(cache, { recursive: true });
  // Renamed, since another process may read it meanwhile.
  writeFileSync(`${file}.${process.pid}`, made);
  renameSync(`${file}.${process.pid}`, file);
  return made;
}

/** Removes old results: most of their sources have changed since. */
export function prune() {
  const oldest = Date.now() - 7 * 86_400_000;
  for (const name of existsSync(cache) ? readdirSync(cache) : []) {
    const file = join(cache, name);
    // Another process may have removed it.
    if ((statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < oldest)
      rmSync(file, { force: true });
  }
}

/** A TypeScript module as JavaScript, with its source map. */
export async function compiled(file) {
  const source = readFileSync(file, 'utf8');
  return kept([file, source], async () => {
    const { transform } = await import('esbuild');
    const options = {
      loader: 'ts',
      format: 'esm',
      target: 'node20',
      sourcemap: 'inline',
      sourcesContent: false,
      sourcefile: file,
    };
    return (await transform(source, options)).code;
  });
}

/** The names and contents of all files of the scripts: each may be part of one. */
let parts;

/** The text of a script, as in the package. */
export async function assembled(file) {
  parts ??= filesIn(lua).flatMap((path) => [path, readFileSync(path, 'utf8')]);
  return kept([file, ...parts], () => assemble(file).text);
}
