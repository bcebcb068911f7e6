import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { removeFolder, temporaryFolder } from './leftovers.ts';

const module = JSON.stringify(new URL('./redisBinary.mjs', import.meta.url).href);
const script = `import(${module}).then((m) => console.log(JSON.stringify(m.redisBinary())))`;

let folder: string;
test.before.each(() => {
  folder = temporaryFolder();
});
test.after.each(() => removeFolder(folder));

const lookup = (env = {}) =>
  spawnSync(process.execPath, ['-e', script], { env: { PATH: folder, ...env }, encoding: 'utf8' });
const put = (name: string, mode: number) => writeFileSync(join(folder, name), '', { mode });

test("accepts valkey's programs", () => {
  put('valkey-server', 0o755);
  put('valkey-cli', 0o755);
  const { stdout } = lookup();
  assert.equal(JSON.parse(stdout), {
    server: join(folder, 'valkey-server'),
    cli: join(folder, 'valkey-cli'),
  });
});

test('SLUICE_REDIS_SERVER names another server, with the client beside it', () => {
  const server = join(folder, 'newest-server');
  put('newest-server', 0o755);
  assert.match(lookup({ SLUICE_REDIS_SERVER: server }).stderr, /newest-cli is no program/);
  put('newest-cli', 0o755);
  const { stdout } = lookup({ SLUICE_REDIS_SERVER: server });
  assert.equal(JSON.parse(stdout), { server, cli: join(folder, 'newest-cli') });
});

test('without a program and apt-get, fails with the command to run', () => {
  put('redis-server', 0o644);
  put('redis-cli', 0o755);
  const { status, stderr } = lookup();
  assert.is(status, 1);
  assert.match(stderr, /run `.*install.* redis.*`/);
});

test.run();
