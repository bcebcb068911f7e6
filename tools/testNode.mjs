// `npm run test:node -- <version> [patterns]`: the tests on another version of Node, which npm installs from the package
// node-<platform>-<architecture> into a folder of its own. Without patterns: a part of the suite that meets all of src.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const part = [
  'cli/',
  'creation/',
  'limiter/',
  'operators/',
  'redis/limiter',
  'redis/group',
  'redisson/port',
  'faults/restart',
];
const [version, ...patterns] = process.argv.slice(2);
if (!/^(\d+(\.\d+){0,2}|latest)$/.test(version ?? '')) {
  console.error('expected a version of Node: npm run test:node -- 24');
  process.exit(2);
}
const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
const folder = join(tmpdir(), `rxjs-sluice-${name}-${version}`);
const node = join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
if (!existsSync(node)) {
  mkdirSync(folder, { recursive: true });
  const args = [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    `${name}@${version}`,
  ];
  execFileSync('npm', args, { stdio: ['ignore', 'inherit', 'inherit'] });
}
console.log(`Node ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`);
const run = fileURLToPath(new URL('../test/run.mjs', import.meta.url));
const chosen = patterns.length > 0 ? patterns : part;
process.exitCode = spawnSync(node, [run, ...chosen], { stdio: 'inherit' }).status ?? 1;
