// `npm run test:peers`: a part of the tests, and the types, with the oldest rxjs and ioredis that package.json names as peers.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const part = ['operators/', 'creation/', 'limiter/', 'redis/limiter', 'redis/group', 'redis/connections', 'redis/errors', 'redisson/port'];
const run = (...args) => {
  const env = { ...process.env, SLUICE_PEERS: 'oldest' };
  if (spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status !== 0) process.exitCode = 1;
};
const patterns = process.argv.slice(2);
run('node_modules/typescript/bin/tsc', '--project', 'test/types/oldest');
run('test/run.mjs', ...(patterns.length > 0 ? patterns : part));
