// Breaks the code on purpose, one change at a time, and says which changes the tests have not noticed: `npm run mutate`.
//
// npm run mutate [-- AREA…] [--sample N] [--seed N] [--known] [--verbose]
//
// Each area has the changes of a table, known.mjs (--known: these alone), and a sample of those that the operators make of
// its files. The score of an area is the part of them that some test noticed.
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { randomOf } from '../../test/support/seed.mjs';
import { areas } from './areas.mjs';
import { known } from './known.mjs';
import * as lua from './lua.mjs';
import { Tree } from './tree.mjs';
import * as typescript from './typescript.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Trees in which mutants are tried at the same time. */
const trees = 2;
const goal = 0.9;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    known: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !areas[name]);
if (unknown.length > 0)
  throw new Error(`no area ${unknown.join(', ')}: there are ${Object.keys(areas).join(', ')}`);
process.env.SLUICE_SCALE ??= '0.1';

const files = ['src', 'lua']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
  .map((file) => file.split(sep).join('/'))
  .filter((file) => /\.(ts|lua)$/.test(file));
const textOf = (file) => readFileSync(join(root, file), 'utf8');

const copies = Array.from({ length: trees }, () => new Tree(root));
process.once('exit', () => {
  for (const tree of copies) tree.remove();
});
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

let failed = false;
for (const name of positionals.length > 0 ? positionals : Object.keys(areas)) await judge(name, areas[name]);
process.exitCode = failed ? 1 : 0;

async function judge(name, { files: patterns, stages }) {
  const mutants = [...tabled(name), ...(values.known ? [] : sampled(name, patterns))];
  if (mutants.length === 0) return;
  const stagesOf = (mutant) => (mutant.tests ? [mutant.tests] : stages);
  const all = new Map(mutants.flatMap(stagesOf).map((stage) => [stage.join(' '), stage]));
  const limits = new Map();
  for (const [key, stage] of all) {
    const start = performance.now();
    const { passed, printed } = await copies[0].test(stage, 10 * 60_000);
    if (!passed) throw new Error(`${name}: the tests ${key} fail on the code as it stands:\n${printed}`);
    limits.set(key, 20_000 + 4 * (performance.now() - start));
  }
  const waiting = [...mutants];
  const survivors = [];
  await Promise.all(
    copies.map(async (tree) => {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const noticed = await tree.with(mutant.texts, async () => {
          for (const stage of stagesOf(mutant)) {
            const { passed, isLate, printed } = await tree.test(stage, limits.get(stage.join(' ')));
            if (!passed) return isLate ? 'too slow' : (/FAIL\b.*/.exec(printed)?.[0] ?? 'failed');
          }
          return undefined;
        });
        if (!noticed) survivors.push(mutant);
        if (values.verbose || !noticed)
          console.log(`  ${noticed ? `noticed (${noticed})` : 'UNNOTICED'} ${mutant.title}`);
      }
    }),
  );
  const score = 1 - survivors.length / mutants.length;
  if (score < goal) failed = true;
  console.log(
    `${name}: ${mutants.length - survivors.length} of ${mutants.length} noticed, score ${score.toFixed(2)}`,
  );
}

/** The changes of the table, each of which must be possible in just one place. */
function tabled(name) {
  return known
    .filter(({ area }) => area === name)
    .map(({ title, tests, changes }) => {
      // Where both twins are changed alike, they are one mutant of several files.
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

/** A sample of the changes that the operators make of the files. */
function sampled(name, patterns) {
  const random = randomOf(`${name} ${values.seed}`);
  const all = files
    .filter((file) => patterns.some((pattern) => pattern.test(file)))
    .flatMap((file) => {
      const text = textOf(file);
      const { mutantsOf } = file.endsWith('.lua') ? lua : typescript;
      return mutantsOf(text).map((mutant) => ({ file, text, mutant, place: random() }));
    });
  return all
    .sort((a, b) => a.place - b.place)
    .slice(0, Number(values.sample))
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
