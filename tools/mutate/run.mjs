// Breaks the code on purpose, one mutant at a time, and reports the mutants that no test detects: `npm run mutate -- --help`.
import { parseArgs } from 'node:util';
import { areas } from './areas.mjs';
import { Likely } from './likely.mjs';
import { root, sampled, tabled } from './mutants.mjs';
import { Tree } from './tree.mjs';

/** The number of trees in which mutants are tried at the same time. */
const trees = 2;
const goal = 0.9;

const help = `npm run mutate -- [AREA…] [options]

Breaks the code on purpose, one mutant at a time, and lists the mutants that no test detects. The score of an area is the
detected part of its mutants: those of a table (tools/mutate/known.mjs), and a sample of those that the operators make of its
files. The goal of each area is ${goal}. A mutant with which a test does not end counts as detected. The tests that have
detected the most in the least time are tried first.

Areas: ${Object.keys(areas).join(', ')}; without a name, all of them.

--sample N    the number of operators' mutants of an area: 60 by default
--seed N      another sample: 1 by default
--known       only the mutants of the table
--sampled     only the sample
--only REGEX  only mutants whose printed line matches, of all that the operators make
--tests REGEX only the tests whose path matches: the score is then a lower bound
--minutes N   ends after N minutes, with the score of the mutants that were tried
--help        prints this
`;

const options = {
  sample: { type: 'string', default: '60' },
  seed: { type: 'string', default: '1' },
  known: { type: 'boolean', default: false },
  sampled: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  tests: { type: 'string', default: '' },
  minutes: { type: 'string', default: '1440' },
  help: { type: 'boolean', default: false },
};
const { values, positionals } = argumentsOf(process.argv.slice(2));
if (values.help) {
  process.stdout.write(help);
  process.exit();
}
process.env.SLUICE_SCALE ??= '0.1';
process.env.SLUICE_SHRINK = '0';

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
async function judge(name, { files, tests }) {
  const mutants = [
    ...(values.sampled ? [] : tabled(name)),
    ...(values.known ? [] : sampled(files, values.only ? Infinity : Number(values.sample), values.seed)),
  ]
    .filter(({ title }) => new RegExp(values.only).test(title))
    .map((mutant) => ({ ...mutant, tests: testsOf(mutant.tests ?? tests) }));
  const times = await timesOf(name, [...new Set(mutants.flatMap(({ tests }) => tests))]);
  const likely = new Likely(new Map([...times].map(([test, { cpu, children }]) => [test, cpu + children])));
  const survivors = [];
  let tried = 0;
  await inEachTree(mutants, async (tree, mutant) => {
    const by = await detectionOf(tree, mutant, likely, times);
    if (over.aborted) return;
    if (!by) survivors.push(mutant);
    console.log(`${++tried}/${mutants.length} ${by ? `detected by ${by}:` : 'SURVIVED'} ${mutant.title}`);
  });
  const score = tried > 0 ? (tried - survivors.length) / tried : 0;
  console.log(`${survivors.map(({ title }) => `  ${title}\n`).join('')}`);
  console.log(
    `${name}: ${tried - survivors.length} of ${tried} mutants detected, score ${score.toFixed(2)} (--seed ${values.seed})`,
  );
  return score;
}

/** The files of tests that match a pattern, as far as this run has them. */
function testsOf(patterns) {
  return copies[0].tests(patterns).filter((test) => new RegExp(values.tests).test(test));
}

/** Works on each item in one of the trees, until the minutes of the run are over. */
async function inEachTree(items, work) {
  const waiting = [...items];
  const next = () => (over.aborted ? undefined : waiting.shift());
  await Promise.all(
    copies.map(async (tree) => {
      for (let item = next(); item; item = next()) await work(tree, item);
    }),
  );
}

/** The outcome of each file of tests on the unchanged code, which has to pass. */
async function timesOf(name, tests) {
  const times = new Map();
  await inEachTree(tests, async (tree, test) => {
    const { failed, cause } = await tree.run(
      [test],
      () => 5 * 60_000,
      (test, outcome) => times.set(test, outcome),
    );
    if (failed > 0 && !over.aborted)
      throw new Error(`${name}: ${test} fails on the unchanged code${cause ? `: it ${cause}` : ''}`);
  });
  return times;
}

/** The test or the reason that detects a mutant, if any. */
function detectionOf(tree, { file, texts, tests }, likely, times) {
  return tree.with(texts, async () => {
    let by;
    const { failed, cause } = await tree.run(
      likely.sorted(file, tests),
      (test) => 10_000 + 5 * times.get(test).wall,
      (test, { failed }) => {
        likely.record(file, test, failed > 0);
        by = test;
      },
    );
    return failed > 0 ? (cause ? `${by}, which ${cause}` : by) : undefined;
  });
}
