import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Standing } from '../properties/oracle.ts';
import { killAtExit, killNow } from '../support/leftovers.ts';
import type { Message, Order, Tally } from './protocol.ts';

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));
const register = new URL('../support/register.mjs', import.meta.url).href;

/** What became of one process: its grants as they were told, and its tally, unless it was killed. */
export interface Outcome {
  grants: Standing[];
  tally: Tally | undefined;
}

/** Processes that share a limit, all ready to begin. */
export class ProcessFleet {
  readonly #children: ChildProcess[];
  readonly #outcomes: Outcome[];

  private constructor(children: ChildProcess[]) {
    this.#children = children;
    this.#outcomes = children.map(() => ({ grants: [], tally: undefined }));
    children.forEach((child, i) => {
      child.on('message', (message: Message) => this.#hear(this.#outcomes[i], message));
    });
  }

  /** Starts the processes, and waits until each is connected: so that none has a lead. */
  static async start(count: number, port: number): Promise<ProcessFleet> {
    const children = Array.from({ length: count }, (_, place) =>
      fork(worker, [String(port), String(place)], { execArgv: ['--import', register] }),
    );
    for (const child of children) killAtExit(child);
    const ready = children.map((child) => once(child, 'message'));
    const dead = children.map(async (child) => {
      const [code] = await once(child, 'exit');
      throw new Error(`a process ended with ${code} before it was ready`);
    });
    await Promise.race([Promise.all(ready), ...dead]);
    for (const one of dead) one.catch(() => {});
    return new ProcessFleet(children);
  }

  /** Lets all begin at once, kills the first after a while if that is asked for, and waits until the others have ended. */
  async run(order: Order, killAfter?: number): Promise<Outcome[]> {
    const ends = this.#children.map((child) => once(child, 'close'));
    for (const child of this.#children) {
      // Else this process ends as soon as the last of them has hung up.
      child.ref();
      child.send(order);
    }
    if (killAfter !== undefined) {
      await sleep(killAfter);
      this.#children[0].kill('SIGKILL');
    }
    await Promise.all(ends);
    return this.#outcomes;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map(killNow));
  }

  #hear(outcome: Outcome, message: Message): void {
    if (message.kind === 'grant') outcome.grants.push({ t: message.t, n: message.n });
    if (message.kind === 'tally') outcome.tally = message.tally;
  }
}
