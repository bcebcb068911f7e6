import { assemble, scripts } from './lua.mjs';

/**
 * The text of a script in sections: parts that follow each other in every script that has one of them are one section, so that
 * a bundle has fewer texts.
 *
 * @param {string} file absolute path of the script
 * @param {string} root absolute path of the `lua` folder
 * @returns {{ file: string, text: string }[]} each with the file of its first part
 */
export function sectionsOf(file, root) {
  const [after, before] = neighbours(root);
  const sections = [];
  let last;
  for (const part of assemble(file, root).parts) {
    const follows = last && isOnly(after.get(last), part.file) && isOnly(before.get(part.file), last);
    if (follows) sections.at(-1).text += `\n${part.text}`;
    else sections.push({ ...part });
    last = part.file;
  }
  return sections;
}

/** By part: the parts that come right after it in some script, and those right before it. */
function neighbours(root) {
  const [after, before] = [new Map(), new Map()];
  const add = (map, key, value) => map.set(key, (map.get(key) ?? new Set()).add(value));
  for (const script of scripts(root)) {
    const files = assemble(script, root).parts.map((part) => part.file);
    for (const [i, file] of files.entries()) {
      add(after, file, files[i + 1]);
      add(before, file, files[i - 1]);
    }
  }
  return [after, before];
}

function isOnly(files, file) {
  return files.size === 1 && files.has(file);
}
