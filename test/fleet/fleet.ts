import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Histories, readHistories } from '../history/histories.ts';
import { bundled } from '../support/bundled.ts';
import { killAtExit, killNow, removeFolder, temporaryFolder } from '../support/leftovers.ts';
import type { Message, Order } from './protocol.ts';

/** The histories of the processes of a fleet. */
export interface Outcome extends Histories {
  /** The most requests that any of them held reserved. */
  longest: number;
  /** The longest time for which one of them waited for a processor, in milliseconds. */
  starved: number;
}

/** Processes that share a limit, all ready to start. */
export class ProcessFleet {
  readonly #children: ChildProcess[];
  readonly #folder: string;
  #longest = 0;
  #starved = 0;

  private constructor(children: ChildProcess[], folder: string) {
    this.#children = children;
    this.#folder = folder;
    for (const child of children)
      child.on('message', (message: Message) => {
        if (message.kind !== 'ended') return;
        this.#longest = Math.max(this.#longest, message.longest);
        this.#starved = Math.max(this.#starved, message.starved);
      });
  }

  /** Starts the processes, and waits until each is connected, so that none has a head start. */
  static async start(count: number, port: number): Promise<ProcessFleet> {
    const folder = temporaryFolder();
    const worker = await bundled('test/fleet/worker.ts');
    const children = Array.from({ length: count }, (_, place) =>
      fork(worker, [String(port), String(place), folder], { execArgv: [] }),
    );
    for (const child of children) killAtExit(child);
    const ready = children.map((child) => once(child, 'message'));
    const dead = children.map(async (child) => {
      const [code] = await once(child, 'exit');
      throw new Error(`a process ended with ${code} before it was ready`);
    });
    await Promise.race([Promise.all(ready), ...dead]);
    for (const one of dead) one.catch(() => {});
    return new ProcessFleet(children, folder);
  }

  /** Lets all start at once, kills the first after a while on request, and waits until the others have ended. */
  async run(order: Order, killAfter?: number): Promise<Outcome> {
    const ends = this.#children.map((child) => once(child, 'close'));
    for (const child of this.#children) {
      // Otherwise this process ends as soon as the last of them has disconnected.
      child.ref();
      child.send(order);
    }
    if (killAfter !== undefined) {
      await sleep(killAfter);
      this.#children[0].kill('SIGKILL');
    }
    await Promise.all(ends);
    return { ...readHistories(this.#folder), longest: this.#longest, starved: this.#starved };
  }

  async stop(): Promise<void> {
    await Promise.all(this.#children.map(killNow));
    removeFolder(this.#folder);
  }
}
