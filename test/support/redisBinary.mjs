import { onPathOrInstalled, which } from './systemPackage.mjs';

const families = [
  ['redis-server', 'redis-cli'],
  ['valkey-server', 'valkey-cli'],
];
let found;

/**
 * The absolute paths of the server and the command line client that the tests start. If they are missing, they are installed
 * with apt-get, if this process is root; otherwise this throws an error with the command to run.
 */
export function redisBinary() {
  found ??= onPathOrInstalled({ find, what: 'Redis server', apt: 'redis-server', brew: 'redis' });
  return found;
}

function find() {
  for (const [server, cli] of families) {
    const paths = { server: which(server), cli: which(cli) };
    if (paths.server && paths.cli) return paths;
  }
  return undefined;
}
