import { spawnSync } from 'node:child_process';
import { accessSync, constants, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const families = [
  ['redis-server', 'redis-cli'],
  ['valkey-server', 'valkey-cli'],
];
const lock = join(tmpdir(), 'rxjs-sluice-redis-install.lock');
const longestInstall = 5 * 60_000;
let found;

/**
 * The absolute paths of the server and the command line client that the tests start. If they are missing, they are installed
 * with apt-get, if this process is root; otherwise this throws an error with the command to run.
 */
export function redisBinary() {
  found ??= onPath() ?? installed();
  return found;
}

function onPath() {
  for (const [server, cli] of families) {
    const paths = { server: which(server), cli: which(cli) };
    if (paths.server && paths.cli) return paths;
  }
  return undefined;
}

function which(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function installed() {
  if (process.getuid?.() !== 0 || !which('apt-get')) throw new Error(advice('No Redis server on the PATH.'));
  takeLock();
  try {
    // Another process may have installed it while this one waited for the lock.
    const paths = onPath() ?? install();
    if (!paths) throw new Error(advice('apt-get could not install a Redis server.'));
    return paths;
  } finally {
    rmSync(lock, { force: true });
  }
}

function install() {
  console.error('No Redis server on the PATH: installing redis-server with apt-get …');
  const apt = (...args) =>
    spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      // Its progress goes to stderr: the standard output belongs to the tests.
      stdio: ['ignore', process.stderr, process.stderr],
    });
  // Only the PATH decides about success: an unreachable list fails an update, and a service that cannot start fails
  // an install, although the binary is there.
  apt('update');
  apt('install', '-y', '--no-install-recommends', 'redis-server');
  return onPath();
}

function takeLock() {
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    // A process that was killed while it installed leaves its lock behind.
    if (lockAge() > longestInstall) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function lockAge() {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function advice(problem) {
  const line = process.platform === 'darwin' ? 'brew install redis' : 'sudo apt-get install -y redis-server';
  return `${problem} The tests start servers of their own: run \`${line}\`, and then the tests again.`;
}
