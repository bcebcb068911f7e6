// What `npm test` runs: every `*.test.ts`, or those whose path matches a pattern (`npm test -- limits 'redis/.*Lua'`).
// With --slow, which is what `npm run test:slow` says, those of the folder `slow`, and without it all but those.
// The last line is `N passed, N failed`.
import { readdirSync } from 'node:fs';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { redisBinary } from './support/redisBinary.mjs';
import { turns } from './support/turns.mjs';
import { runGroup } from './support/uvuGroup.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
/** The folders whose tests spend their time waiting for servers; the others spend it computing. */
const withServers = /^(cli|cluster|conformance|demo|faults|fleet|redis|redisson|slow|support)\//;
const limit = 11 * 60_000;

const args = process.argv.slice(2);
const slow = args.includes('--slow');
const patterns = args.filter((arg) => arg !== '--slow').map((pattern) => new RegExp(pattern));
const files = readdirSync(folder, { recursive: true })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.test.ts') && file.startsWith('slow/') === slow)
  .filter((file) => patterns.length === 0 || patterns.some((pattern) => pattern.test(`test/${file}`)))
  .sort();
const groups = [
  files.filter((file) => !withServers.test(file)),
  files.filter((file) => withServers.test(file)),
].filter((group) => group.length > 0);

// So that the groups, which end themselves with this process, end when it is interrupted.
for (const [signal, code] of Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 })) {
  process.once(signal, () => process.exit(code));
}

const outcomes = await run();
const sum = (name) => outcomes.reduce((total, outcome) => total + outcome[name], 0);
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
  const voices = turns(groups.length, (text) => process.stdout.write(text));
  return Promise.all(groups.map((group, index) => runInTurn(group, voices[index])));
}

async function runInTurn(group, voice) {
  const outcome = await runGroup({ folder, files: group, write: voice.write, limit });
  if (outcome.cause) voice.write(`\nFAILED: the process that ran ${group.join(', ')} ${outcome.cause}\n\n`);
  voice.end();
  return outcome;
}

function failure(message) {
  console.log(`FAILED: ${message}`);
  return { passed: 0, failed: 1, skipped: 0 };
}
