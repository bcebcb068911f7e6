import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const register = new URL('./register.mjs', import.meta.url).href;
const program = fileURLToPath(new URL('./uvuChild.mjs', import.meta.url));

/** The prefix of the result of a file, which the process writes to its standard output, in order with the rest. */
export const mark = '\u0000uvu ';

/**
 * A process that runs uvu files, one at a time. A file in which it dies, hangs or ends before its tests are over counts as
 * a failure, and the process is over.
 */
export class UvuWorker {
  #child;
  #job;
  #text = '';
  /** What it has written to its standard error since the last file. */
  #after = '';
  #ended;
  #cause;
  #kill = () => {
    try {
      process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
  };

  constructor() {
    this.#child = spawn(process.execPath, ['--import', register, program], {
      // A process group of its own, so that the servers its tests have started can be ended with it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    process.once('exit', this.#kill);
    this.#child.stdout.setEncoding('utf8').on('data', (chunk) => this.#hear(chunk));
    this.#child.stderr.setEncoding('utf8').on('data', (chunk) => {
      if (this.#job) this.#job.write(chunk);
      else this.#after += chunk;
    });
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (error) => this.#killBecause(`did not start: ${error.message}`));
      this.#child.on('exit', this.#kill);
      this.#child.on('close', (code, signal) => {
        process.off('exit', this.#kill);
        const how = signal ?? `code ${code}`;
        this.#tell({
          passed: 0,
          failed: 1,
          skipped: 0,
          cause: this.#cause ?? `ended (${how}) before its tests had`,
        });
        resolve(this.#cause ?? (code === 0 ? undefined : `ended with ${how} after its tests`));
      });
    });
  }

  /** Whether it can run another file. */
  get lives() {
    return this.#child.connected;
  }

  /** Runs a file for at most `limit` milliseconds, and passes its output to `write`. */
  run({ file, seed, scale, limit, write }) {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#killBecause(`did not end within ${limit / 1000} s`), limit);
      this.#job = { write, resolve, timer };
      this.#after = '';
      this.#child.send({ file, seed, scale }, (error) => error && this.#kill());
    });
  }

  /** Lets the process end within `grace` milliseconds. Returns the cause if it does not end well. */
  async end(grace = 20_000) {
    const timer = setTimeout(
      () => this.#killBecause(`was still alive ${grace / 1000} s after its tests ${this.#after}`),
      grace,
    );
    // The process disconnects, not this one: otherwise Node does not report its end.
    if (this.lives) this.#child.send({}, () => {});
    const cause = await this.#ended;
    clearTimeout(timer);
    return cause;
  }

  #hear(chunk) {
    this.#text += chunk;
    for (;;) {
      const at = this.#text.indexOf(mark[0]);
      const end = at < 0 ? -1 : this.#text.indexOf('\n', at);
      this.#job?.write(at < 0 ? this.#text : this.#text.slice(0, at));
      this.#text = at < 0 ? '' : this.#text.slice(at);
      if (end < 0) return;
      const line = this.#text.slice(mark.length, end - at);
      this.#text = this.#text.slice(end - at + 1);
      const outcome = JSON.parse(line);
      if (outcome.passed + outcome.failed + outcome.skipped === 0) {
        outcome.failed = 1;
        outcome.cause = 'ran no test';
      }
      this.#tell(outcome);
    }
  }

  #tell(outcome) {
    if (!this.#job) return;
    const { resolve, timer } = this.#job;
    this.#job = undefined;
    clearTimeout(timer);
    resolve(outcome);
  }

  #killBecause(cause) {
    this.#cause ??= cause;
    this.#kill();
  }
}
