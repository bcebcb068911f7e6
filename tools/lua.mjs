import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { constantsOf, inlined } from './luaConstants.mjs';
import { minify } from './luaMinify.mjs';
import { shortNames } from './luaNames.mjs';

const include = /^\s*--\s*@include\s+"([^"]+)"\s*$/;
const inline = /^\s*--\s*@inline\s+"([^"]+)"\s*$/;
const body = /^\s*--\s*@body\s+"([^"]+)"\s*$/;
/** In the place of a body while names are shortened: each part is a whole chunk of Lua then. */
const bodyPlace = 'do end';

/**
 * The text of a Lua script. Files that `-- @include "path"` names come before it, each once. `-- @inline "path"` is replaced
 * by the lines of a file at each place, for code of the fast path that a function would make slow. Once in a script,
 * `-- @body "path"` is replaced by a file with all that it includes: a script in a function of another. Paths are relative to
 * the `lua` folder. The text is minified, in the tests as in the build; `plain` keeps its names and lines.
 *
 * @param {string} file absolute path of the script
 * @param {string} root absolute path of the `lua` folder
 * @param {{ plain?: boolean, whole?: boolean }} options `whole`: a file with a body is one part, after those of its body
 * @returns {{ text: string, parts: { file: string, text: string }[], files: string[] }} the script, the part of each included
 * file, in order, and all files it is made of
 */
export function assemble(file, root = luaRoot(file), { plain = false, whole = false } = {}) {
  /** @type {Map<string, string>} */
  const parts = new Map();
  /** @type {Set<string>} */
  const files = new Set();
  /** @param {string} path @param {string} from */
  const linesOf = (path, from) => {
    if (!existsSync(path)) throw new Error(`Lua script not found: ${path} (named in ${from})`);
    files.add(path);
    return readFileSync(path, 'utf8').split('\n');
  };
  /** @param {string} line */
  const isCode = (line) => !/^\s*(--.*)?$/.test(line);
  /** @param {string} path @param {string} from */
  const read = (path, from) => {
    if (files.has(path)) return;
    const code = [];
    let within;
    for (const line of linesOf(path, from)) {
      const named = include.exec(line);
      const embedded = body.exec(line);
      // Includes come before the file: its own lines stay together.
      if (named && code.length > 0)
        throw new Error(`${path} includes ${named[1]} after its first line of code`);
      const placed = inline.exec(line);
      if (embedded) {
        within = resolve(root, `${embedded[1]}.lua`);
        code.push(bodyPlace);
      } else if (named) read(resolve(root, `${named[1]}.lua`), path);
      else if (placed) code.push(...linesOf(resolve(root, `${placed[1]}.lua`), path).filter(isCode));
      else if (isCode(line)) code.push(line.trimEnd());
    }
    const text = code.join('\n');
    const part = plain ? text : shortened(text, root);
    if (within) {
      const [head, tail, ...more] = part.split(bodyPlace);
      if (more.length > 0) throw new Error(`${path} has several places for a body`);
      if (!whole) parts.set(`${path} head`, head);
      read(within, path);
      parts.set(path, whole ? part : tail);
      return;
    }
    // Of a file with constants only, nothing is left.
    if (part !== '') parts.set(path, part);
  };
  read(file, 'an import');
  return {
    text: [...parts.values()].join('\n'),
    parts: Array.from(parts, ([path, text]) => ({ file: path, text })),
    files: [...files],
  };
}

/** The scripts of a `lua` folder: the files that no other file includes. */
export function scripts(root) {
  const found = filesIn(root);
  if (found.length === 0) throw new Error(`no Lua script in ${root}`);
  const included = new Set();
  for (const file of found)
    for (const other of assemble(file, root, { plain: true }).files) if (other !== file) included.add(other);
  return found.filter((file) => !included.has(file));
}

/** The files of a `lua` folder. */
export function filesIn(root) {
  return readdirSync(root, { recursive: true })
    .filter((name) => name.endsWith('.lua'))
    .map((name) => join(root, name));
}

/** By folder: its texts, minified. */
const folders = new Map();

/** A part with short names: minified once for all scripts. */
function shortened(text, root) {
  // Again when a file has changed, as while a build watches.
  if (!folders.get(root)?.has(text)) folders.set(root, minified(root));
  return folders.get(root).get(text);
}

/** Each text of the scripts, minified. The scripts of one folder share their short names, and no part with others. */
function minified(root) {
  const groups = new Map();
  for (const script of scripts(root)) {
    const texts = assemble(script, root, { plain: true, whole: true }).parts.map((part) => part.text);
    groups.set(dirname(script), [...(groups.get(dirname(script)) ?? []), texts]);
  }
  const constants = constantsOf([...new Set([...groups.values()].flat(2))]);
  const short = new Map();
  for (const [folder, texts] of groups) {
    const names = shortNames(texts.map((parts) => parts.map((text) => inlined(text, constants))));
    for (const text of new Set(texts.flat())) {
      if (short.has(text)) throw new Error(`a script of ${folder} shares a part with one of another folder`);
      short.set(text, minify(inlined(text, constants), names));
    }
  }
  return short;
}

function luaRoot(file) {
  let folder = dirname(file);
  while (folder !== dirname(folder)) {
    if (/[\\/]lua$/.test(folder)) return folder;
    folder = dirname(folder);
  }
  throw new Error(`${file} is not inside a folder named lua`);
}
