// Breaks the code on purpose, one mutant at a time, and reports the mutants that no test detects: `npm run mutate -- --help`.
import { parseArgs } from 'node:util';
import { areas } from './areas.mjs';
import { root, sampled, tabled } from './mutants.mjs';
import { Tree } from './tree.mjs';

/** The number of trees in which mutants are tried at the same time. */
const trees = 2;
const goal = 0.9;
const timeLimit = 'the time limit';

const help = `npm run mutate -- [AREA…] [options]

Breaks the code on purpose, one mutant at a time, and lists the mutants that no test detects. The score of an area is the
detected part of its mutants: those of a table (tools/mutate/known.mjs), and a sample of those that the operators make of its
files. The goal of each area is ${goal}. A mutant that only the time limit detects counts, and is listed too.

Areas: ${Object.keys(areas).join(', ')}; without a name, all of them.

--sample N   the number of operators' mutants of an area: 60 by default
--seed N     another sample: 1 by default
--known      only the mutants of the table
--verbose    lists the detected mutants, each with its test
--help       prints this
`;

const options = {
  sample: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  known: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};
const { values, positionals } = argumentsOf(process.argv.slice(2));
if (values.help) {
  process.stdout.write(help);
  process.exit();
}
process.env.SLUICE_SCALE ??= '0.1';

const copies = Array.from({ length: trees }, () => new Tree(root));
process.once('exit', () => {
  for (const tree of copies) tree.remove();
});
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const scores = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(areas))
  scores.push(await judge(name, areas[name]));
process.exitCode = scores.some((score) => score < goal) ? 1 : 0;

/** The options and the areas, or the end of this process with a line that says what is wrong. */
function argumentsOf(args) {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const unknown = positionals.filter((name) => !Object.hasOwn(areas, name));
    if (unknown.length > 0)
      throw new Error(`no area ${unknown.join(', ')}: there are ${Object.keys(areas).join(', ')}`);
    for (const name of ['sample', 'seed'])
      if (!/^\d+$/.test(values[name])) throw new Error(`--${name}: expected a number, got ${values[name]}`);
    return { values, positionals };
  } catch ({ message }) {
    console.error(`mutate: ${message}`);
    return process.exit(2);
  }
}

/** Tries the mutants of an area; returns the part of them that was detected. */
async function judge(name, { files, stages }) {
  const sample = values.known ? 0 : Number(values.sample);
  const mutants = [...tabled(name), ...sampled(name, files, sample, values.seed)];
  const stagesOf = ({ tests }) => (tests ? [tests] : stages);
  const limits = await limitsOf(name, mutants.flatMap(stagesOf));
  const waiting = [...mutants];
  let noticed = 0;
  await Promise.all(
    copies.map(async (tree) => {
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        const by = await noticedBy(tree, mutant, stagesOf(mutant), limits);
        if (by) noticed++;
        if (values.verbose || !by || by === timeLimit)
          console.log(`  ${by ? `noticed (${by})` : 'UNNOTICED'} ${mutant.title}`);
      }
    }),
  );
  const score = mutants.length > 0 ? noticed / mutants.length : 1;
  console.log(`${name}: ${noticed} of ${mutants.length} detected, score ${score.toFixed(2)}`);
  return score;
}

/** The time limit of each stage in milliseconds, from its time on the unchanged code, which has to pass. */
async function limitsOf(name, stages) {
  const limits = new Map();
  for (const stage of stages) {
    const key = stage.join(' ');
    if (limits.has(key)) continue;
    const start = performance.now();
    const { passed, printed } = await copies[0].test(stage, 10 * 60_000);
    if (!passed) throw new Error(`${name}: the tests ${key} fail on the unchanged code:\n${printed}`);
    limits.set(key, 20_000 + 4 * (performance.now() - start));
  }
  return limits;
}

/** The test or the reason that detects a mutant, if any. */
function noticedBy(tree, { texts }, stages, limits) {
  return tree.with(texts, async () => {
    for (const stage of stages) {
      const { passed, isLate, printed } = await tree.test(stage, limits.get(stage.join(' ')));
      if (isLate) return timeLimit;
      if (!passed) return /FAIL\b.*/.exec(printed)?.[0] ?? 'an abnormal end of the tests';
    }
    return undefined;
  });
}
