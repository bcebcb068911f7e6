import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomOf } from '../../test/support/seed.mjs';
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
      return { title: `${title} (${texts.map(({ file }) => file).join(', ')})`, tests, texts };
    });
}

/** A sample of the mutants that the operators make of the files matching one of the patterns. */
export function sampled(name, patterns, size, seed) {
  const random = randomOf(`${name} ${seed}`);
  const all = ['src', 'lua']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)),
    )
    .map((file) => file.split(sep).join('/'))
    .filter((file) => /\.(ts|lua)$/.test(file) && patterns.some((pattern) => pattern.test(file)))
    .sort()
    .flatMap((file) => {
      const text = textOf(file);
      const { mutantsOf } = file.endsWith('.lua') ? lua : typescript;
      return mutantsOf(text).map((mutant) => ({ file, text, mutant, place: random() }));
    });
  return all
    .sort((a, b) => a.place - b.place)
    .slice(0, size)
    .map(({ file, text, mutant: { start, end, replacement } }) => {
      const line = text.slice(0, start).split('\n').length;
      const title = `${file}:${line} ${short(text.slice(start, end))} → ${short(replacement) || 'nothing'}`;
      return { title, texts: [{ file, text: text.slice(0, start) + replacement + text.slice(end) }] };
    });
}

function short(text) {
  const line = text.replace(/\s+/g, ' ');
  return line.length > 70 ? `${line.slice(0, 70)}…` : line;
}
