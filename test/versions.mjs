// Runs a part of the tests, which uses every folder of src, with other versions than `npm ci` installs:
//
// npm run test:peers                    the oldest rxjs and ioredis that package.json names as peers, and their types
// npm run test:clients                  the store's tests over each of the other Redis clients
// npm run test:clients -- node-redis-5  over one of them; with patterns, other tests than the store's
// npm run test:clients -- --part        the part of them that CI runs
// npm run test:node -- 26.10.0          another Node, which npm installs into a folder of its own; or `latest`
// npm run test:node -- latest limiter   other tests than the part
// npm run test:node -- latest --if-had  prints a note and succeeds if npm cannot install that Node
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const part = [
  'cli/passing',
  'creation/fromThrottled(Stream|NodeStream|Async)?.test',
  'fallback/modes',
  'limiter/',
  'operators/(acquirePermits|pauseOn)',
  'operators/throttleDistributed/(lifecycle|marbles|sharing|strategies)',
  'redis/(connections|errors|group|limiter)',
  'redisson/(keys|port)',
];

/** The tests that open connections, over which the store can use any client. */
const ofStore = ['cluster/', 'faults/', 'redis/', 'redisson/', 'security/'].map(
  (folder) => `^test/${folder}`,
);
const partOfStore = [
  '^test/cluster/',
  '^test/faults/fallback(Errors|Start)',
  '^test/redis/(connections|errors|limiter|rate|sentinel)',
  '^test/redisson/(port|resent)',
  '^test/security/tls',
];
const clients = ['node-redis-6', 'node-redis-5', 'valkey-glide'];

/** Runs a program of Node on the sources. Returns whether it succeeded. */
function succeeds(node, args, env = {}) {
  const options = { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' };
  return spawnSync(node, args, options).status === 0;
}

/** The program of a version of Node, from the package of npm that has it for this machine. */
function installedNode(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(tmpdir(), `rxjs-sluice-${name}-${version}`);
  const node = join(folder, 'node_modules', name, 'bin', 'node');
  if (version === 'latest' || !existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    const options = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund'];
    execFileSync('npm', ['install', ...options, `${name}@${version}`], { stdio: 'inherit' });
  }
  return node;
}

function testPeers(patterns) {
  const env = { SLUICE_PEERS: 'oldest' };
  const types = succeeds(process.execPath, [
    'node_modules/typescript/bin/tsc',
    '--project',
    'test/types/oldest',
  ]);
  return succeeds(process.execPath, ['test/run.mjs', ...patterns], env) && types;
}

function testNode(version, patterns, ifHad) {
  if (!/^(\d+(\.\d+){0,2}|latest)$/.test(version)) {
    console.error(`expected a version of Node, as in \`npm run test:node -- latest\`, got ${version}`);
    return false;
  }
  let node;
  try {
    node = installedNode(version);
    console.log(`Node ${execFileSync(node, ['--version'], { encoding: 'utf8' })}`);
  } catch (error) {
    console.log(`NOT RUN: Node ${version} cannot be installed: ${error.message}`);
    return ifHad;
  }
  // The tests compare what programs print; the hooks of tsx use a function that a newer Node warns of.
  return succeeds(node, ['test/run.mjs', ...patterns], { NODE_OPTIONS: '--disable-warning=DEP0205' });
}

function testClients(words) {
  const named = words.filter((word) => clients.includes(word));
  const patterns = words.filter((word) => !clients.includes(word) && word !== '--part');
  const all = words.includes('--part') ? partOfStore : ofStore;
  const chosen = patterns.length > 0 ? patterns : all;
  const outcomes = (named.length > 0 ? named : clients).map((client) => {
    console.log(`\n== ${client}`);
    const env = { SLUICE_CLIENT: client };
    return succeeds(process.execPath, ['test/run.mjs', ...chosen], env);
  });
  return outcomes.every(Boolean);
}

const args = process.argv.slice(2).filter((arg) => arg !== '--if-had');
const [what, ...rest] = args;
const patterns = what === '--node' ? rest.slice(1) : rest;
const chosen = patterns.length > 0 ? patterns : part;
const run = {
  '--node': () => testNode(String(rest[0]), chosen, process.argv.includes('--if-had')),
  '--peers': () => testPeers(chosen),
  '--clients': () => testClients(rest),
};
if (!run[what]()) process.exitCode = 1;
