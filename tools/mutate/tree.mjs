import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of the repository, in which one file at a time is changed, and tests are run. */
export class Tree {
  #folder = mkdtempSync(join(tmpdir(), 'rxjs-sluice-mutate-'));
  #over;
  #child;

  /** No test runs once `over` is aborted. */
  constructor(root, over) {
    this.#over = over;
    for (const part of ['src', 'lua', 'test', 'tools', 'docs', 'package.json', 'tsconfig.json'])
      cpSync(join(root, part), join(this.#folder, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  /** Runs a function while files have other texts. */
  async with(texts, work) {
    const paths = texts.map(({ file }) => join(this.#folder, file));
    const before = paths.map((path) => readFileSync(path, 'utf8'));
    for (const [i, { text }] of texts.entries()) writeFileSync(paths[i], text);
    try {
      return await work();
    } finally {
      for (const [i, path] of paths.entries()) writeFileSync(path, before[i]);
    }
  }

  /** Whether the tests pass within the time limit, and their output. */
  test(patterns, limit, env = {}) {
    return new Promise((resolve) => {
      const args = [join(this.#folder, 'test/run.mjs'), '--bail', ...patterns];
      const child = spawn(process.execPath, args, {
        cwd: this.#folder,
        env: {
          ...process.env,
          ...{ SLUICE_WORKERS: '2', SLUICE_SHRINK: '0', SLUICE_CACHE: join(this.#folder, '.cache') },
          ...env,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
        signal: this.#over,
      });
      this.#child = child;
      let printed = '';
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (chunk) => {
          printed += chunk;
        });
      let isLate = false;
      // On a signal it ends its workers, and they end their servers.
      const timer = setTimeout(() => {
        isLate = true;
        child.kill('SIGTERM');
      }, limit);
      child.on('error', (error) => {
        printed += error.message;
      });
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve({ passed: code === 0, isLate, printed });
      });
    });
  }

  remove() {
    this.#child?.kill('SIGTERM');
    // A killed test may still be writing.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
