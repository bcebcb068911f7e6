// Conventional commits: `npm run commits` checks the last commits, `.githooks/commit-msg` the message of a new one.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const types = ['build', 'chore', 'ci', 'docs', 'feat', 'fix', 'perf', 'refactor', 'revert', 'style', 'test'];
const subject = new RegExp(`^(${types.join('|')})(\\([\\w-]+\\))?!?: \\S`);
const checkedCommits = 100;

/** The fault of the message of a commit, or nothing. */
export function fault(message) {
  const [first, second] = message.split('\n');
  if (/^(Merge|Revert|fixup!|squash!) ?/.test(first)) return undefined;
  if (!subject.test(first))
    return `expected one of ${types.join(', ')}, then a colon and the change, got: ${first}`;
  if (second) return `expected an empty line after the first, got: ${second}`;
  return undefined;
}

function checkFile(file) {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  return [fault(lines.join('\n'))];
}

function checkHistory() {
  const options = { encoding: 'utf8', cwd: fileURLToPath(new URL('..', import.meta.url)) };
  const log = spawnSync('git', ['log', '-z', '--format=%B', '-n', String(checkedCommits)], options);
  if (log.status !== 0) {
    console.log('no history of git here: no commit is checked');
    return [];
  }
  const messages = log.stdout.split('\0').filter(Boolean);
  console.log(`${messages.length} commits checked`);
  return messages.map(fault);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = (process.argv[2] ? checkFile(process.argv[2]) : checkHistory()).filter(Boolean);
  for (const one of faults) console.error(one);
  if (faults.length > 0) process.exitCode = 1;
}
