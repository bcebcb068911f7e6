// `npm test` runs every `*.test.ts`, or the files whose path matches a pattern (`npm test -- limits 'redis/.*Lua'`).
//
// --slow   runs only the files of the folder `slow`, which are left out otherwise, and all `cases` of the other files, of which
//          a seventeenth is tried otherwise: `npm run test:slow`
// --long   runs the files with random values repeatedly, each time with a new random seed: `npm run test:long`
// --times  prints the time of each file at the end, the most processor time first
// --bail   ends at the first file that fails
//
// Random choices follow from one seed: SLUICE_SEED, or the recorded one. The last line is `N passed, N failed`.
import { readdirSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prune } from './support/compiled.mjs';
import { redisBinary } from './support/redisBinary.mjs';
import { anySeed, seed } from './support/seed.mjs';
import { timesOf } from './support/times.mjs';
import { turns } from './support/turns.mjs';
import { UvuWorker } from './support/uvuWorker.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** The folders whose tests mostly wait for servers; the others mostly compute. */
const withServers =
  /^(cli|cluster|conformance|demo|examples|faults|fleet|fuzz|processes|redis|redisson|security|slow|support)\//;
/** The timed tests of many callers or processes that share a limit: other load would change their results. */
const alone = /^(fleet\/|slow\/(cluster|redisson))/;
/** A file with properties over random values. */
const campaigns = /from '(fast-check|.*\/support\/campaign\.ts)'/;
/** A file whose process runs no other after it: Node 20's `fetch` leaves timers that can fail under another file's fake clock. */
const fetches = /\bfetch\(/;
/** The time limit of a file, in ms. */
const limit = 15 * 60_000;
/** The number of processes at a time: more than two processors, since tests mostly wait. */
const workers = Number(process.env.SLUICE_WORKERS ?? 6);

const flags = new Set(process.argv.slice(2).filter((arg) => arg.startsWith('--')));
const patterns = process.argv
  .slice(2)
  .filter((arg) => !arg.startsWith('--'))
  .map((arg) => new RegExp(arg));
const [slow, long] = [flags.has('--slow'), flags.has('--long')];
const files = readdirSync(folder, { recursive: true })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.test.ts') && (slow ? isSlow(file) : !file.startsWith('slow/')))
  .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(`test/${file}`)))
  .filter((file) => !long || campaigns.test(readFileSync(folder + file, 'utf8')))
  // In the order in which they run.
  .sort((a, b) => Number(alone.test(a)) - Number(alone.test(b)) || (a < b ? -1 : 1));
/** Whether --slow runs a file. */
function isSlow(file) {
  return file.startsWith('slow/') || readFileSync(folder + file, 'utf8').includes("/support/cases.ts'");
}

/** The scale of a property's runs: with --long the twins get most, since many defects show only there. */
function scaleOf(name) {
  if (process.env.SLUICE_SCALE) return Number(process.env.SLUICE_SCALE);
  if (slow) return 1;
  if (!long) return 0.07;
  return name.startsWith('redis/twins') ? 0.6 : 0.1;
}

/** The rounds of --long, each with another seed: the twins run in every round, the others in every third one. */
const rounds = long ? Number(process.env.SLUICE_ROUNDS ?? 4) : 1;
const othersEvery = 3;
const runsIn = (round, name) => name.startsWith('redis/twins') || round % othersEvery === 0;

// On a signal, exit: the workers end with this process.
for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, () => process.exit(code));
}

const jobs = Array.from({ length: rounds }, (_, round) => {
  const seedOfRound = long && !process.env.SLUICE_SEED ? anySeed() : seed() + round;
  return files
    .filter((name) => runsIn(round, name))
    .map((name) => ({
      name,
      seed: seedOfRound,
      scale: scaleOf(name),
      computes: !withServers.test(name),
    }));
}).flat();
const outcomes = await run();
const sum = (what) => outcomes.reduce((total, outcome) => total + outcome[what], 0);
if (flags.has('--times')) console.log(timesOf(outcomes));
const failed = [...new Set(outcomes.filter(({ again }) => again).map(({ again }) => again))];
if (failed.length > 0)
  console.log(`Again, with the same random choices:\n${failed.map((line) => `  ${line}\n`).join('')}`);
if (sum('skipped') > 0) console.log(`${sum('skipped')} skipped`);
console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
process.exitCode = sum('failed') > 0 ? 1 : 0;

async function run() {
  if (files.length === 0) return [failure(`no test file matches ${patterns.join(' or ')}`)];
  try {
    if (files.some((file) => withServers.test(file))) redisBinary();
  } catch (error) {
    return [failure(error.message)];
  }
  prune();
  if (!long) console.log(`SLUICE_SEED=${seed()}\n`);
  const voices = turns(jobs.length, (text) => process.stdout.write(text));
  const waiting = jobs.map((job, i) => ({ ...job, voice: voices[i] }));
  const last = waiting.filter(({ name }) => alone.test(name));
  const first = waiting.filter((job) => !last.includes(job));
  const lanes = Array.from({ length: Math.min(workers, first.length) }, (_, i) => work(first, i % 3 === 0));
  const outcomes = (await Promise.all(lanes)).flat();
  const isOver = flags.has('--bail') && outcomes.some(({ again }) => again);
  return last.length > 0 && !isOver ? [...outcomes, ...(await work(last, true))] : outcomes;
}

/** Runs the queued files in one process as long as it lives: the computing ones first, or the waiting ones first. */
async function work(waiting, computes) {
  const outcomes = [];
  let worker;
  let ran = [];
  while (waiting.length > 0) {
    const next = Math.max(
      0,
      waiting.findIndex((job) => job.computes === computes),
    );
    const [{ name, seed, scale, voice }] = waiting.splice(next, 1);
    voice.write(long ? `SLUICE_SEED=${seed} ${name}\n` : `${name}\n`);
    worker ??= new UvuWorker();
    ran.push(name);
    const outcome = await worker.run({ file: folder + name, seed, scale, limit, write: voice.write });
    if (outcome.cause) voice.write(`\nFAILED: ${name} ${outcome.cause}\n`);
    voice.write('\n');
    voice.end();
    const again = outcome.failed > 0 ? commandFor(name, seed, scale) : undefined;
    outcomes.push({ ...outcome, name, again });
    if (flags.has('--bail') && again) waiting.length = 0;
    const { lives } = worker;
    if (lives && waiting.length > 0 && !fetches.test(readFileSync(folder + name, 'utf8'))) continue;
    const cause = await worker.end();
    // The end of a process in a file is a failure of that file already.
    if (cause && lives) outcomes.push(failure(`the process that ran ${ran.join(', ')} ${cause}`));
    [worker, ran] = [undefined, []];
  }
  return outcomes;
}

function commandFor(name, seed, scale) {
  const part = long ? `SLUICE_SCALE=${scale} ` : '';
  return `SLUICE_SEED=${seed} ${part}npm ${slow ? 'run test:slow' : 'test'} -- ${name}`;
}

function failure(message) {
  console.log(`FAILED: ${message}`);
  return { passed: 0, failed: 1, skipped: 0 };
}
