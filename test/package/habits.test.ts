// The scripts for commits and releases, in a repository of their own.
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fault } from '../../tools/commits.mjs';
import { differences } from '../../tools/package.mjs';

const script = fileURLToPath(new URL('../../tools/release.mjs', import.meta.url));
const changes = '# Changelog\n\n## Unreleased\n\n- A change.\n\n## 0.1.0 - 2026-01-01\n\n- The first.\n';

interface Repository {
  folder: string;
  git(...args: string[]): string;
  write(file: string, text: string): void;
  read(file: string): string;
  release(...args: string[]): { status: number | null; output: string };
}

const release = suite<Repository>('release');
/** A machine without git makes no release. */
const check = spawnSync('git', ['--version']).status === 0 ? release : release.skip;

release.before.each((context) => {
  const folder = mkdtempSync(join(tmpdir(), 'rxjs-sluice-release-'));
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  };
  const options = { cwd: folder, encoding: 'utf8', env: { ...process.env, ...identity } } as const;
  Object.assign(context, {
    folder,
    git: (...args: string[]) => execFileSync('git', args, options).trim(),
    write: (file: string, text: string) => writeFileSync(join(folder, file), text),
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    release: (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], options);
      return { status, output: stdout + stderr };
    },
  });
  const scripts = { build: 'true', package: 'true' };
  mkdirSync(join(folder, '.ci'));
  context.write('.ci/run', '#!/bin/sh\n');
  chmodSync(join(folder, '.ci/run'), 0o755);
  context.write('package.json', JSON.stringify({ name: 'a', version: '0.1.0', scripts }));
  context.write(
    'package-lock.json',
    JSON.stringify({ name: 'a', version: '0.1.0', lockfileVersion: 3, packages: {} }),
  );
  context.write('CHANGELOG.md', changes);
  context.git('init', '--quiet');
  context.git('add', '.');
  context.git('commit', '--quiet', '--message', 'feat: all');
});
release.after.each(({ folder }) => rmSync(folder, { recursive: true }));

check('a dry run checks, and changes nothing', ({ git, release }) => {
  const { status, output } = release('minor', '--dry-run');
  assert.is(status, 0, output);
  for (const step of [
    'the tree is clean',
    '0.1.0 becomes 0.2.0',
    'the tests: .ci/run (not run)',
    'tag v0.2.0',
  ])
    assert.match(output, step);
  assert.is(git('status', '--porcelain'), '');
  assert.is(git('tag', '--list'), '');
});

check('moves the version and the changes, commits and tags', ({ git, read, release }) => {
  const { status, output } = release('patch');
  assert.is(status, 0, output);
  assert.match(output, 'npm publish');
  assert.is(git('status', '--porcelain'), '');
  assert.is(git('log', '-1', '--format=%s'), 'chore: release 0.1.1');
  assert.is(git('tag', '--points-at', 'HEAD'), 'v0.1.1');
  assert.is(JSON.parse(read('package.json')).version, '0.1.1');
  assert.is(JSON.parse(read('package-lock.json')).version, '0.1.1');
  assert.match(read('CHANGELOG.md'), /^## Unreleased\n\n## 0\.1\.1 - \d{4}-\d\d-\d\d\n\n- A change\.\n/m);
});

release(
  'refuses a change that is not committed, a failed test and a wrong version',
  ({ git, write, release }) => {
    write('more', '');
    assert.match(release().output, 'the tree is not clean');
    git('add', '.');
    git('commit', '--quiet', '--message', 'feat: more');
    for (const [version, message] of [
      ['0.0.9', '0.0.9 is before 0.1.0'],
      ['0.1.0', 'CHANGELOG.md has 0.1.0 already'],
      ['soon', 'expected a version, major, minor or patch, got soon'],
    ]) {
      const { status, output } = release(version, '--dry-run');
      assert.is(status, 1);
      assert.match(output, message);
    }
    git('tag', 'v0.1.1');
    assert.match(release('--dry-run').output, 'the tag v0.1.1 exists');
    write('.ci/run', '#!/bin/sh\nexit 1\n');
    git('commit', '--all', '--quiet', '--message', 'test: fails');
    assert.match(release('0.2.0').output, '.ci/run failed');
    assert.is(git('tag', '--list'), 'v0.1.1');
  },
);

check('refuses a release without a change', ({ git, write, release }) => {
  write('CHANGELOG.md', '# Changelog\n\n## Unreleased\n\n## 0.0.1 - 2026-01-01\n\n- The first.\n');
  git('commit', '--all', '--quiet', '--message', 'docs: nothing');
  assert.match(release('--dry-run').output, 'names no change');
});

release.run();

const habits = suite('habits');

habits('a commit has a type, and an empty line after its subject', () => {
  for (const message of ['fix: a bug', 'feat(cli)!: a flag\n\nWhy.', "Merge branch 'a'"])
    assert.is(fault(message), undefined);
  for (const message of ['a bug', 'fixed: a bug', 'fix a bug', 'fix: ', 'fix: a bug\nWhy.'])
    assert.ok(fault(message));
});

habits('a packed file that is not expected, and one that is missing, are named', () => {
  assert.equal(differences(['a', 'b'], ['a', 'b']), []);
  assert.equal(differences(['a', 'c'], ['a', 'b']), ['not expected: c', 'missing: b']);
});

habits.run();
