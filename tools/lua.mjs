import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { minify, shortNames } from './luaMinify.mjs';

const include = /^\s*--\s*@include\s+"([^"]+)"\s*$/;

/**
 * The text of a Lua script with its `-- @include "path"` lines replaced by the files they name, each once.
 * Paths are relative to the `lua` folder. The text is minified, in the tests as in the build; `plain` keeps its names and lines.
 *
 * @param {string} file absolute path of the script
 * @param {string} root absolute path of the `lua` folder
 * @param {{ plain?: boolean }} options
 * @returns {{ text: string, parts: { file: string, text: string }[] }} the script, and the part of each file, in order
 */
export function assemble(file, root = luaRoot(file), { plain = false } = {}) {
  /** @type {Map<string, string>} */
  const parts = new Map();
  const reading = new Set();
  /** @param {string} path @param {string} from */
  const read = (path, from) => {
    if (reading.has(path)) return;
    if (!existsSync(path)) throw new Error(`Lua script not found: ${path} (named in ${from})`);
    reading.add(path);
    const code = [];
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      const named = include.exec(line);
      // Includes come before the file: its own lines stay together.
      if (named && code.length > 0)
        throw new Error(`${path} includes ${named[1]} after its first line of code`);
      if (named) read(resolve(root, `${named[1]}.lua`), path);
      else if (!/^\s*(--.*)?$/.test(line)) code.push(line.trimEnd());
    }
    const text = code.join('\n');
    parts.set(path, plain ? text : shortened(text, root));
  };
  read(file, 'an import');
  return {
    text: [...parts.values()].join('\n'),
    parts: Array.from(parts, ([path, text]) => ({ file: path, text })),
  };
}

/** The scripts of a `lua` folder: the files that no other file includes. */
export function scripts(root) {
  const found = filesIn(root);
  if (found.length === 0) throw new Error(`no Lua script in ${root}`);
  const included = new Set();
  for (const file of found)
    for (const part of assemble(file, root).parts) if (part.file !== file) included.add(part.file);
  return found.filter((file) => !included.has(file));
}

function filesIn(root) {
  return readdirSync(root, { recursive: true })
    .filter((name) => name.endsWith('.lua'))
    .map((name) => join(root, name));
}

/** By folder: the short names that its scripts share, and each text with them. */
const folders = new Map();

/** A part with short names: minified once for all scripts. */
function shortened(text, root) {
  let folder = folders.get(root);
  if (!folder) {
    const texts = filesIn(root).map((file) => readFileSync(file, 'utf8'));
    folder = { names: shortNames(texts), texts: new Map() };
    folders.set(root, folder);
  }
  if (!folder.texts.has(text)) folder.texts.set(text, minify(text, folder.names));
  return folder.texts.get(text);
}

function luaRoot(file) {
  let folder = dirname(file);
  while (folder !== dirname(folder)) {
    if (/[\\/]lua$/.test(folder)) return folder;
    folder = dirname(folder);
  }
  throw new Error(`${file} is not inside a folder named lua`);
}
