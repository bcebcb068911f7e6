// `npm run release -- <version|major|minor|patch> [--dry-run]`: checks, then a commit and a tag. It never publishes: it prints
// the command that does. With --dry-run it checks the same, runs no tests, and changes nothing.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const tests = '.ci/run';
const isDry = process.argv.includes('--dry-run');
const [wanted = 'patch'] = process.argv.slice(2).filter((arg) => arg !== '--dry-run');

const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim();
const manifest = () => JSON.parse(readFileSync('package.json', 'utf8'));

function fail(message) {
  console.error(`no release: ${message}`);
  process.exit(1);
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  if (status !== 0) fail(`${[command, ...args].join(' ')} failed`);
}

/** The version after `from`: the next one of a kind, or the one given. */
function nextVersion(from, wanted) {
  const numbers = from.split('.').map(Number);
  const kind = ['major', 'minor', 'patch'].indexOf(wanted);
  if (kind >= 0) return numbers.map((n, i) => (i < kind ? n : i === kind ? n + 1 : 0)).join('.');
  if (!/^\d+\.\d+\.\d+$/.test(wanted)) fail(`expected a version, major, minor or patch, got ${wanted}`);
  const given = wanted.split('.').map(Number);
  const differs = given.findIndex((n, i) => n !== numbers[i]);
  if (differs >= 0 && given[differs] < numbers[differs]) fail(`${wanted} is before ${from}`);
  return wanted;
}

/** The changelog with its unreleased entries under the heading of the version. */
function releasedChangelog(text, version, date) {
  const [, unreleased] = /^## Unreleased\n(.*?)(?=^## |(?![\s\S]))/ms.exec(text) ?? [];
  if (unreleased === undefined) fail('CHANGELOG.md has no heading "## Unreleased"');
  if (!/^- /m.test(unreleased)) fail('CHANGELOG.md names no change under "## Unreleased"');
  if (text.includes(`\n## ${version} `)) fail(`CHANGELOG.md has ${version} already`);
  return text.replace('## Unreleased\n', () => `## Unreleased\n\n## ${version} - ${date}\n`);
}

if (!existsSync('package.json')) fail('run it at the root of the repository');
const dirty = git('status', '--porcelain');
if (dirty) fail(`the tree is not clean:\n${dirty}`);
console.log('the tree is clean');

const { version: current } = manifest();
const version = nextVersion(current, wanted);
const tag = `v${version}`;
if (git('tag', '--list', tag)) fail(`the tag ${tag} exists`);
const changelog = releasedChangelog(
  readFileSync('CHANGELOG.md', 'utf8'),
  version,
  new Date().toISOString().slice(0, 10),
);
console.log(`${current} becomes ${version}, with a heading of its own in CHANGELOG.md`);

console.log(`the tests: ${tests}${isDry ? ' (not run)' : ''}`);
if (!isDry) run(tests);
run('npm', 'run', 'build');
run('npm', 'run', 'package');

if (isDry) console.log(`would commit package.json, package-lock.json and CHANGELOG.md, and tag ${tag}`);
else {
  if (version !== current) run('npm', 'version', version, '--no-git-tag-version');
  writeFileSync('CHANGELOG.md', changelog);
  run('git', 'add', 'package.json', 'package-lock.json', 'CHANGELOG.md');
  run('git', 'commit', '--message', `chore: release ${version}`);
  run('git', 'tag', '--annotate', tag, '--message', tag);
  console.log(`committed and tagged ${tag}; publish it with: npm publish`);
}
