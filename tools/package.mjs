// Checks the package as npm would pack it: its files one by one, publint, and its types in every mode of resolution
// (are-the-types-wrong). Needs the build: `npm run build && npm run package`.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const expected = readFileSync(new URL('./packedFiles.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

/** The differences between the packed files and the expected ones. */
export function differences(packed, expected) {
  return [
    ...packed.filter((file) => !expected.includes(file)).map((file) => `not expected: ${file}`),
    ...expected.filter((file) => !packed.includes(file)).map((file) => `missing: ${file}`),
  ];
}

/** Packs into a folder, without the build of `prepack`. Returns the tarball and its files. */
function pack(folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename, files }] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8' }));
  return { tarball: join(folder, filename), files: files.map(({ path }) => path) };
}

function check() {
  const folder = mkdtempSync(join(tmpdir(), 'rxjs-sluice-pack-'));
  try {
    const { tarball, files } = pack(folder);
    const wrong = differences(files, expected);
    console.log(wrong.length === 0 ? `${files.length} files, as in tools/packedFiles.txt` : wrong.join('\n'));
    const gates = [
      ['publint', tarball, '--strict'],
      ['attw', tarball, '--profile', 'strict'],
    ];
    const failed = gates.filter(
      (gate) => spawnSync('npx', ['--no-install', ...gate], { cwd: root, stdio: 'inherit' }).status !== 0,
    );
    return wrong.length === 0 && failed.length === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !check()) process.exitCode = 1;
