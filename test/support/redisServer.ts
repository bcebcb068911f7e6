import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.ts';
import { hasEnded, killAtExit, killNow, removeFolder, temporaryFolder } from './leftovers.ts';
import { freePort, keepPort } from './ports.ts';
import { redisBinary } from './redisBinary.mjs';
import { until } from './until.ts';

/** The options of a server besides a free port and no persistence. */
export interface RedisServerOptions {
  /** Further lines of its configuration file. */
  readonly config?: readonly string[];
  /** Whether it runs as a sentinel. */
  readonly sentinel?: boolean;
  /** A program with its arguments that runs the server, such as a profiler. */
  readonly under?: readonly string[];
}

/** Starts a real server on a free port of 127.0.0.1, and waits until it answers. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  for (let tries = 1; ; tries++) {
    const server = new RedisServer(await freePort(), options);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server.stop();
      // Another process may have taken the port since it was found free.
      if (tries === 3) throw error;
    }
  }
}

/** A Redis server for the tests that can be killed, frozen and started again. */
export class RedisServer {
  readonly host = '127.0.0.1';
  readonly url: string;
  readonly #folder = temporaryFolder();
  readonly #sentinel: boolean;
  readonly #under: readonly string[];
  readonly #releasePort: () => void;
  #child: ChildProcess | undefined;

  /** Writes the configuration of a server for `start`. */
  constructor(
    readonly port: number,
    { config = [], sentinel = false, under = [] }: RedisServerOptions = {},
  ) {
    this.url = `redis://${this.host}:${port}`;
    this.#sentinel = sentinel;
    this.#under = under;
    // A node of a cluster needs both ports itself.
    this.#releasePort = config.includes('cluster-enabled yes') ? () => {} : keepPort(port);
    const lines = [
      `port ${port}`,
      `bind ${this.host}`,
      'save ""',
      'appendonly no',
      'daemonize no',
      ...config,
    ];
    // A file, not arguments: a sentinel requires one, and a promoted replica rewrites it.
    writeFileSync(join(this.#folder, 'server.conf'), `${lines.join('\n')}\n`);
  }

  /** The process id of the running server, or of the last one. */
  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** Starts the server, and waits until it answers, for at most `within` milliseconds. */
  async start(within = 15_000): Promise<void> {
    // Errors in a configuration are printed before a log exists: so the log is the printed output.
    const log = openSync(join(this.#folder, 'server.log'), 'a');
    const sentinel = this.#sentinel ? ['--sentinel'] : [];
    const [program, ...args] = [...this.#under, redisBinary().server, 'server.conf', ...sentinel];
    const child = spawn(program, args, {
      cwd: this.#folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    killAtExit(child);
    const answers = async () => {
      if (hasEnded(child)) return 'ended';
      // By its process id: after a race for the port, another server would answer as well.
      const info = String(await this.command('INFO'));
      // While it loads its data, it answers to INFO only.
      return info.includes(`process_id:${child.pid}\r`) && !info.includes('loading:1') && 'answers';
    };
    await until(`the server on port ${this.port} answers`, answers, { within });
    if (hasEnded(child)) throw new Error(`the server did not start:\n${this.log()}`);
  }

  /** Runs one command on the server, over its own connection. */
  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return command(this.port, name, ...args);
  }

  /**
   * Deletes all keys. Returns the server's time of that, in milliseconds. Every write before it has an earlier time, and every
   * write after it a later one.
   */
  async flush(): Promise<number> {
    const script = "redis.call('FLUSHALL') return redis.call('TIME')";
    const [seconds, micros] = (await this.command('EVAL', script, 0)) as [string, string];
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  }

  /** The log of the server. */
  log(): string {
    return readFileSync(join(this.#folder, 'server.log'), 'utf8');
  }

  /** SIGKILL: all data is lost, every connection breaks, and the port refuses new ones. */
  async kill(): Promise<void> {
    if (this.#child) await killNow(this.#child);
  }

  /** SIGSTOP: connections stay open without replies. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** SIGCONT: requests sent meanwhile are answered now. */
  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /**
   * Kills the server if it runs, and starts it again on the same port. Returns a time in between, in milliseconds: without
   * persistence, it is empty from then on.
   */
  async restart(): Promise<number> {
    await this.kill();
    const down = Date.now();
    await this.start();
    return down;
  }

  /** Stops the server, and removes its files. */
  async stop(): Promise<void> {
    await this.kill();
    this.#releasePort();
    removeFolder(this.#folder);
  }
}
