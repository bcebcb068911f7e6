import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const include = /^\s*--\s*@include\s+"([^"]+)"\s*$/;

/**
 * The text of a Lua script with its `-- @include "path"` lines replaced by the files they name, each once.
 * Paths are relative to the `lua` folder. Comments and blank lines are left out: they would only travel.
 *
 * @param {string} file absolute path of the script
 * @param {string} root absolute path of the `lua` folder
 * @returns {{ text: string, files: string[] }} the script, and every file that went into it
 */
export function assemble(file, root = luaRoot(file)) {
  /** @type {Set<string>} */
  const files = new Set();
  /** @param {string} path @param {string} from @returns {string[]} */
  const read = (path, from) => {
    if (files.has(path)) return [];
    if (!existsSync(path)) throw new Error(`Lua script not found: ${path} (named in ${from})`);
    files.add(path);
    return readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => {
        const named = include.exec(line);
        if (named) return read(resolve(root, `${named[1]}.lua`), path);
        const code = line.trimEnd();
        return /^\s*(--.*)?$/.test(code) ? [] : [code];
      });
  };
  return { text: read(file, 'an import').join('\n'), files: [...files] };
}

/** Every script of a `lua` folder that is loaded by itself: the files that are not in a folder of includes. */
export function scripts(root) {
  const found = readdirSync(root).filter((name) => name.endsWith('.lua'));
  if (found.length === 0) throw new Error(`no Lua script in ${root}`);
  return found.map((name) => join(root, name));
}

function luaRoot(file) {
  let folder = dirname(file);
  while (folder !== dirname(folder)) {
    if (/[\\/]lua$/.test(folder)) return folder;
    folder = dirname(folder);
  }
  throw new Error(`${file} is not inside a folder named lua`);
}
