import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command } from './command.ts';
import { hasEnded, killAtExit, killNow, removeFolder, temporaryFolder } from './leftovers.ts';
import { freePort } from './ports.ts';
import { redisBinary } from './redisBinary.mjs';
import { until } from './until.ts';

/** What a server is started with beyond a free port and no persistence. */
export interface RedisServerOptions {
  /** Further lines of its configuration file. */
  readonly config?: readonly string[];
  /** Whether it runs as a sentinel. */
  readonly sentinel?: boolean;
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
      // Another process may have taken the port between the look at it and its use.
      if (tries === 3) throw error;
    }
  }
}

/** A Redis server of the tests' own, that can be killed, frozen and started again. */
export class RedisServer {
  readonly host = '127.0.0.1';
  readonly url: string;
  readonly #folder = temporaryFolder();
  readonly #sentinel: boolean;
  #child: ChildProcess | undefined;

  /** Writes the configuration of a server that `start` will start. */
  constructor(
    readonly port: number,
    { config = [], sentinel = false }: RedisServerOptions = {},
  ) {
    this.url = `redis://${this.host}:${port}`;
    this.#sentinel = sentinel;
    const lines = [
      `port ${port}`,
      `bind ${this.host}`,
      'save ""',
      'appendonly no',
      'daemonize no',
      ...config,
    ];
    // A file, not arguments: a sentinel insists on one, and a replica that was promoted rewrites it.
    writeFileSync(join(this.#folder, 'server.conf'), `${lines.join('\n')}\n`);
  }

  /** The process id of the server that runs now, or ran last. */
  get pid(): number {
    return this.#child?.pid ?? -1;
  }

  /** Starts the server, and waits until it answers. */
  async start(): Promise<void> {
    // What is wrong with a configuration is printed, before there is a log: so the log is what is printed.
    const log = openSync(join(this.#folder, 'server.log'), 'a');
    const child = spawn(redisBinary().server, ['server.conf', ...(this.#sentinel ? ['--sentinel'] : [])], {
      cwd: this.#folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.#child = child;
    killAtExit(child);
    await until(`the server on port ${this.port} answers`, async () => {
      if (hasEnded(child)) return 'ended';
      // By its process id: after a race for the port, somebody else's server would answer just as well.
      const info = String(await this.command('INFO', 'server'));
      return info.includes(`process_id:${child.pid}\r`) && 'answers';
    });
    if (hasEnded(child)) throw new Error(`the server did not start:\n${this.log()}`);
  }

  /** Runs one command on the server, over a connection of its own. */
  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return command(this.port, name, ...args);
  }

  /** What the server has written to its log. */
  log(): string {
    return readFileSync(join(this.#folder, 'server.log'), 'utf8');
  }

  /** SIGKILL: all data is lost, every connection breaks, and the port refuses new ones. */
  async kill(): Promise<void> {
    if (this.#child) await killNow(this.#child);
  }

  /** SIGSTOP: connections stay open, and nothing answers. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  /** SIGCONT: whatever was sent meanwhile is answered now. */
  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Kills the server if it runs, and starts it again on the same port, empty. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Ends the server for good, and removes what it left on disk. */
  async stop(): Promise<void> {
    await this.kill();
    removeFolder(this.#folder);
  }
}
