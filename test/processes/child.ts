import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { PermitsAt } from '../properties/oracle.ts';
import { bundled } from '../support/bundled.ts';
import { hasEnded, killAtExit, killNow, removeFolder, temporaryFolder } from '../support/leftovers.ts';
import { until } from '../support/until.ts';
import type { Message, Role } from './protocol.ts';

type Done = Extract<Message, { kind: 'done' }>;

/** A process that shares a limit with the test. */
export class Child {
  readonly grants: (PermitsAt & { receivedAt: number })[] = [];
  /** When it started its role, and what it reported at the end. */
  begun: number | undefined;
  done: Done | undefined;
  /** Where its history is. */
  readonly folder: string;
  readonly #process: ChildProcess;
  #ready = false;

  private constructor(process: ChildProcess, folder: string) {
    this.#process = process;
    this.folder = folder;
    process.on('message', (message: Message) => this.#receive(message));
  }

  /** Starts a process, and waits until it has been granted a permit. */
  static async start(port: number, role: Role): Promise<Child> {
    const program = await bundled('test/processes/process.ts');
    const folder = temporaryFolder();
    const process = fork(program, [String(port), role, folder], { execArgv: [] });
    killAtExit(process);
    const child = new Child(process, folder);
    await until(`the process (${role}) is ready`, async () => child.#ready, { within: 30_000 });
    return child;
  }

  /** Lets it execute its role. */
  begin(): void {
    this.#process.send('begin');
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name);
  }

  /** Waits until it has ended by itself, and returns its exit code. */
  async ended(): Promise<number | null> {
    this.#process.ref();
    if (!hasEnded(this.#process)) await once(this.#process, 'exit');
    return this.#process.exitCode;
  }

  async kill(): Promise<void> {
    await killNow(this.#process);
    removeFolder(this.folder);
  }

  #receive(message: Message): void {
    if (message.kind === 'ready') this.#ready = true;
    if (message.kind === 'begins') this.begun = message.at;
    if (message.kind === 'done') this.done = message;
    if (message.kind === 'grant') this.grants.push({ ...message.grant, receivedAt: message.receivedAt });
  }
}
