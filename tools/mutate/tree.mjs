import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { seed } from '../../test/support/seed.mjs';

/** A copy of the repository, in which one file at a time is changed, and tests are run. */
export class Tree {
  #folder = mkdtempSync(join(tmpdir(), 'rxjs-sluice-mutate-'));
  #over;
  #worker;

  /** No test runs once `over` is aborted. */
  constructor(root, over) {
    this.#over = over;
    over.addEventListener('abort', () => this.#end(0));
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

  /** The paths of all files of tests that match a pattern. */
  tests(patterns) {
    return readdirSync(join(this.#folder, 'test'), { recursive: true })
      .map((file) => `test/${file.split(sep).join('/')}`)
      .filter(
        (file) => file.endsWith('.test.ts') && patterns.some((pattern) => new RegExp(pattern).test(file)),
      );
  }

  /**
   * Runs files of tests in their order, in one process, until the first test that fails. Each file may take the milliseconds
   * that `limitOf` returns. Calls `onEnd` with each file and its outcome; returns the last of these outcomes.
   */
  async run(tests, limitOf, onEnd) {
    let outcome = { failed: 0 };
    for (const test of tests) {
      if (!this.#worker?.lives) this.#worker = await this.#start();
      let failing = false;
      outcome = await this.#worker.run({
        file: join(this.#folder, test),
        seed: seed(),
        scale: Number(process.env.SLUICE_SCALE),
        limit: limitOf(test),
        write: (text) => {
          if (failing || !text.includes('✘')) return;
          // What the other tests of the file say changes nothing.
          failing = true;
          this.#end(0);
        },
      });
      if (failing) outcome = { failed: 1, cause: undefined };
      if (this.#over.aborted) return outcome;
      onEnd(test, outcome);
      if (outcome.failed > 0) break;
    }
    const cause = await this.#end(outcome.failed > 0 ? 0 : undefined);
    return outcome.failed === 0 && cause ? { failed: 1, cause } : outcome;
  }

  /** A process of this tree: it has loaded no source yet. */
  async #start() {
    const { UvuWorker } = await import(pathToFileURL(join(this.#folder, 'test/support/uvuWorker.mjs')));
    process.env.SLUICE_CACHE = join(this.#folder, '.cache');
    return new UvuWorker();
  }

  async #end(grace) {
    const worker = this.#worker;
    this.#worker = undefined;
    return worker?.end(grace);
  }

  remove() {
    this.#end(0);
    // A killed test may still be writing.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
