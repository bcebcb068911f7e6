import { basename, dirname, join, resolve } from 'node:path';
import { isExecutable, onPathOrInstalled, which } from './systemPackage.mjs';

const families = [
  ['redis-server', 'redis-cli'],
  ['valkey-server', 'valkey-cli'],
];
let found;

/**
 * The absolute paths of the server and the command line client that the tests start: the server that the environment variable
 * SLUICE_REDIS_SERVER names, and the client beside it, or else those on the PATH. If they are missing, they are installed with
 * apt-get, if this process is root; otherwise this throws an error with the command to run.
 */
export function redisBinary() {
  const server = process.env.SLUICE_REDIS_SERVER;
  found ??= server
    ? named(resolve(server))
    : onPathOrInstalled({ find, what: 'Redis server', apt: 'redis-server', brew: 'redis' });
  return found;
}

function named(server) {
  const cli = join(dirname(server), basename(server).replace('-server', '-cli'));
  const missing = [server, cli].find((path) => !isExecutable(path));
  if (missing) throw new Error(`SLUICE_REDIS_SERVER=${server}: ${missing} is no program.`);
  return { server, cli };
}

function find() {
  for (const [server, cli] of families) {
    const paths = { server: which(server), cli: which(cli) };
    if (paths.server && paths.cli) return paths;
  }
  return undefined;
}
