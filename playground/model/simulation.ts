import { Subscription } from 'rxjs';
import type { Limit } from '../../src/index.ts';
import { randomFrom } from '../../test/support/seed.mjs';
import { arrivalsOf } from './arrivals.ts';
import { type Config, limitOf } from './config.ts';
import { Fleet } from './fleet.ts';
import { VirtualTime } from './virtualTime.ts';
import { type Window, type WindowsAt, windowsOf } from './windows.ts';

/** The time that is remembered, in milliseconds. */
const memory = 60_000;

/** A fleet with its arrivals, in virtual time. The same configuration and the same clicks give the same run. */
export class Simulation {
  readonly limit: Limit;
  readonly fleet: Fleet;
  readonly #time = new VirtualTime();
  readonly #arrivals = new Subscription();
  readonly #windowsAt: WindowsAt;

  constructor(readonly config: Config) {
    this.limit = limitOf(config);
    this.fleet = new Fleet(this.limit, config.processes, this.#time);
    this.#windowsAt = windowsOf(this.limit);
    const random = randomFrom(1);
    for (let process = 0; process < config.processes; process++)
      this.#arrivals.add(
        arrivalsOf(config, process, this.#time, random).subscribe(() => this.fleet.emit(process)),
      );
  }

  /** Milliseconds since the start. */
  get now(): number {
    return this.#time.now();
  }

  /** Lets time pass. */
  advance(ms: number): void {
    this.#time.runUntil(this.now + ms);
    this.fleet.forget(this.now - memory);
  }

  /** The moments of all grants that were not refunded, in order. */
  get grants(): number[] {
    return this.fleet.marbles
      .flatMap(({ state, endedAt }) => (state === 'granted' ? endedAt! : []))
      .sort((a, b) => a - b);
  }

  /** The windows of the limit over the grants. */
  get windows(): Window[] {
    return this.#windowsAt(this.grants, this.now);
  }

  close(): void {
    this.#arrivals.unsubscribe();
    this.fleet.close();
  }
}
