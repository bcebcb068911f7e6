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
files. The goal of each area is ${goal}. A mutant that ends only with the time limit counts as detected.

Areas: ${Object.keys(areas).join(', ')}; without a name, all of them.

--sample N   the number of operators' mutants of an area: 60 by default
--seed N     another sample: 1 by default
--known      only the mutants of the table
--sampled    only the sample
--minutes N  ends after N minutes, with the score of the mutants that were tried
--help       prints this
`;

const options = {
  sample: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  known: { type: 'boolean', default: false },
  sampled: { type: 'boolean', default: false },
  minutes: { type: 'string', default: '1440' },
  help: { type: 'boolean', default: false },
};
const { values, positionals } = argumentsOf(process.argv.slice(2));
if (values.help) {
  process.stdout.write(help);
  process.exit();
}
process.env.SLUICE_SCALE ??= '0.1';

/** Aborted after the minutes of the run. */
const over = AbortSignal.timeout(Number(values.minutes) * 60_000);
const copies = Array.from({ length: trees }, () => new Tree(root, over));
process.once('exit', () => {
  for (const tree of copies) tree.remove();
});
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const scores = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(areas))
  scores.push(await judge(name, areas[name]));
process.exitCode = scores.every((score) => score >= goal) ? 0 : 1;

/** Returns the options and the areas. If an argument is invalid, prints one line that says so, and ends this process. */
function argumentsOf(args) {
  try {
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const unknown = positionals.filter((name) => !Object.hasOwn(areas, name));
    if (unknown.length > 0)
      throw new Error(`no area ${unknown.join(', ')}: there are ${Object.keys(areas).join(', ')}`);
    for (const name of ['sample', 'seed', 'minutes'])
      if (!/^\d+$/.test(values[name])) throw new Error(`--${name}: expected a number, got ${values[name]}`);
    return { values, positionals };
  } catch ({ message }) {
    console.error(`mutate: ${message}`);
    return process.exit(2);
  }
}

/** Tries the mutants of an area; returns the part of them that was detected. */
async function judge(name, { files, stages }) {
  const mutants = [
    ...(values.sampled ? [] : tabled(name)),
    ...(values.known ? [] : sampled(files, Number(values.sample), values.seed)),
  ];
  const stagesOf = ({ tests }) => (tests ? [tests] : stages);
  const limits = await limitsOf(name, mutants.flatMap(stagesOf));
  const waiting = [...mutants];
  const survivors = [];
  let tried = 0;
  await Promise.all(
    copies.map(async (tree) => {
      for (let mutant = waiting.shift(); mutant && !over.aborted; mutant = waiting.shift()) {
        const by = await detectionOf(tree, mutant, stagesOf(mutant), limits);
        if (over.aborted) break;
        if (!by) survivors.push(mutant);
        console.log(`${++tried}/${mutants.length} ${by ? `detected by ${by}:` : 'SURVIVED'} ${mutant.title}`);
      }
    }),
  );
  const score = tried > 0 ? (tried - survivors.length) / tried : 0;
  console.log(`${survivors.map(({ title }) => `  ${title}\n`).join('')}`);
  console.log(
    `${name}: ${tried - survivors.length} of ${tried} mutants detected, score ${score.toFixed(2)} (--seed ${values.seed})`,
  );
  return score;
}

/** The time limit of each stage in milliseconds, from its time on the unchanged code, which has to pass. */
async function limitsOf(name, stages) {
  const limits = new Map();
  for (const stage of stages) {
    const key = stage.join(' ');
    if (limits.has(key) || over.aborted) continue;
    const start = performance.now();
    const { passed, printed } = await copies[0].test(stage, 10 * 60_000);
    if (!passed && !over.aborted)
      throw new Error(`${name}: the tests ${key} fail on the unchanged code:\n${printed}`);
    const time = performance.now() - start;
    console.log(`${key}: ${(time / 1000).toFixed(0)} s`);
    limits.set(key, 20_000 + 4 * time);
  }
  return limits;
}

/** The test or the reason that detects a mutant, if any. */
function detectionOf(tree, { texts }, stages, limits) {
  return tree.with(texts, async () => {
    for (const stage of stages) {
      const { passed, isLate, printed } = await tree.test(stage, limits.get(stage.join(' ')));
      if (isLate) return timeLimit;
      if (!passed) return /FAIL\b.*/.exec(printed)?.[0] ?? 'an abnormal end of the tests';
    }
    return undefined;
  });
}
