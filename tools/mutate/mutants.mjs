import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomOf } from '../../test/support/seed.mjs';
import { areas } from './areas.mjs';
import { equivalent } from './equivalent.mjs';
import { known } from './known.mjs';
import * as lua from './lua.mjs';
import * as typescript from './typescript.mjs';

export const root = fileURLToPath(new URL('../..', import.meta.url));

const textOf = (file) => readFileSync(join(root, file), 'utf8');

/** The mutants of the table for an area, or for all; each must apply in exactly one place. */
export function tabled(name) {
  return known
    .filter(({ area }) => !name || area === name)
    .map(({ title, tests, changes }) => {
      // The same change of both twins is one mutant of several files.
      const texts = changes.map(({ file, find, replace }) => {
        const text = textOf(file);
        const places = text.split(find).length - 1;
        if (places !== 1)
          throw new Error(`${title}: ${places} places in ${file} have ${JSON.stringify(find)}`);
        return { file, text: text.replace(find, () => replace) };
      });
      const files = texts.map(({ file }) => file);
      return { title: `${title} (${files.join(', ')})`, file: files[0], tests, texts };
    });
}

/** A sample of the mutants that the operators make of the files matching one of the patterns, but not of equivalent ones. */
export function sampled(patterns, size, seed) {
  return (
    filesOf(patterns)
      .flatMap(mutantsOf)
      .filter((mutant) => !equivalent.some((each) => isOf(mutant, each)))
      // Without the number of its line, so that a change elsewhere leaves the sample as it was.
      .map((mutant) => ({ ...mutant, place: randomOf(`${seed} ${mutant.file} ${mutant.change}`)() }))
      .sort((a, b) => a.place - b.place)
      .slice(0, size)
  );
}

function filesOf(patterns) {
  return ['src', 'lua']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
    )
    .map((file) => file.split(sep).join('/'))
    .filter((file) => /\.(ts|lua)$/.test(file) && patterns.some((pattern) => pattern.test(file)));
}

/** The operators' mutants of a file. */
function mutantsOf(file) {
  const text = textOf(file);
  const operators = file.endsWith('.lua') ? lua : typescript;
  return operators.mutantsOf(text).map(({ start, end, replacement }) => {
    const before = text.slice(0, start).split('\n');
    const [after] = text.slice(end).split('\n');
    const change = `«${short(text.slice(start, end))} → ${short(replacement) || 'nothing'}»`;
    const inLine = `${before.at(-1).trimStart()}${change}${after}`;
    const texts = [{ file, text: text.slice(0, start) + replacement + text.slice(end) }];
    return { title: `${file}:${before.length} ${inLine}`, file, change: inLine, texts };
  });
}

/** The entries of the list of equivalent mutants that no mutant of the areas matches. */
export function outdatedEquivalents() {
  const patterns = Object.values(areas).flatMap(({ files }) => files);
  const all = filesOf(patterns).flatMap(mutantsOf);
  return equivalent.filter((each) => !all.some((mutant) => isOf(mutant, each)));
}

function isOf({ file, change }, { mutant }) {
  return mutant.test(`${file} ${change}`);
}

function short(text) {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 70)}…` : line;
}
