import { spawnSync } from 'node:child_process';
import { accessSync, constants, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const lock = join(tmpdir(), 'rxjs-sluice-install.lock');
const longestInstall = 5 * 60_000;

/**
 * Returns the result of `find`, which looks on the PATH. If it finds nothing, a package of the system is installed with apt-get,
 * if this process is root; otherwise this throws an error with the command to run.
 *
 * @template T
 * @param {{ find: () => T | undefined, what: string, apt: string, brew: string }} options `what` it is, and the names of the
 * packages that contain it
 * @returns {T}
 */
export function onPathOrInstalled({ find, what, apt, brew }) {
  const found = find();
  if (found) return found;
  const line = process.platform === 'darwin' ? `brew install ${brew}` : `sudo apt-get install -y ${apt}`;
  const advice = (problem) =>
    new Error(`${problem} The tests start their own: run \`${line}\`, and then the tests again.`);
  if (process.getuid?.() !== 0 || !which('apt-get')) throw advice(`No ${what} on the PATH.`);
  takeLock();
  try {
    // Another process may have installed it while this one waited for the lock.
    const installed = find() ?? install(what, apt, find);
    if (!installed) throw advice(`apt-get could not install ${apt}.`);
    return installed;
  } finally {
    rmSync(lock, { force: true });
  }
}

/** The absolute path of a program on the PATH, or undefined. */
export function which(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** Whether a path is that of a program. */
export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function install(what, name, find) {
  console.error(`No ${what} on the PATH: installing ${name} with apt-get …`);
  const apt = (...args) =>
    spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=120', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      // Its progress goes to stderr: the standard output belongs to the tests.
      stdio: ['ignore', process.stderr, process.stderr],
    });
  // Only the PATH decides about success: an unreachable list fails an update, and a service that cannot start fails
  // an install, although the binary is there.
  apt('update');
  apt('install', '-y', '--no-install-recommends', name);
  return find();
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
