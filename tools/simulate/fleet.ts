import type { Clock } from '../../src/clock.ts';
import type { Limit } from '../../src/limits/limit.ts';
import { memoryStore } from '../../src/stores/memory/memoryStore.ts';
import { jain } from '../../test/fleet/measures.ts';
import { randomFrom } from '../../test/support/seed.mjs';
import { startClient } from './client.ts';
import { VirtualTime } from './virtualTime.ts';
import { type Load, wired } from './wire.ts';

/** A fleet over one limit. Parts and chances are between 0 and 1, times in milliseconds. */
export interface Fleet {
  limit: Limit;
  clients: number;
  /** The parts of the clients that join half a warm-up late, and that leave or crash then. */
  late: number;
  leave: number;
  crash: number;
  /** The chance that a request is cancelled before its grant. */
  cancel: number;
  roundTrip: number;
  /** The part of a round trip by which it may be longer. */
  jitter: number;
  warmUp: number;
  span: number;
  seed: number;
}

/** The results of the span after the warm-up. */
export interface Outcome {
  /** The used part of the permits. */
  utilisation: number;
  /** Jain's index over the clients that were present all the time. */
  fairness: number;
  /** Calls that request or refund permits, per permit. */
  callsPerPermit: number;
  /** All calls a second, heartbeats included. */
  callsPerSecond: number;
  /** The longest delay of a reservation: milliseconds. */
  line: number;
  /** The utilisation of each tenth of the span. */
  course: number[];
}

/** Runs a fleet in virtual time, each client with its own dispatcher and wire. */
export function simulate(fleet: Fleet): Outcome {
  const { limit, clients, roundTrip, warmUp, span } = fleet;
  const time = new VirtualTime();
  const random = randomFrom(fleet.seed);
  const store = memoryStore();
  const rate = limit.permits / limit.interval;
  const start = time.origin + warmUp;
  const load: Load = { reserves: 0, heartbeats: 0, refunds: 0, longest: 0 };
  const tenths = new Array<number>(10).fill(0);
  const stayed: { granted: number }[] = [];
  // Twice the number of permits that a client reserves ahead: it never waits for its own requests.
  const waiting = 2 + Math.ceil((4 * rate * Math.max(20, 4 * roundTrip)) / clients);

  /** Starts a client, and returns the function that stops it. */
  function join(index: number, stays: boolean): { leave(): void; crash(): void } {
    const counts = { granted: 0 };
    if (stays) stayed.push(counts);
    let alive = true;
    const clock: Clock = {
      origin: time.origin,
      now: () => time.now(),
      after: (ms, work) =>
        time.after(ms, () => {
          if (alive) work();
        }),
    };
    const config = {
      name: 'simulated',
      prefix: 'sluice',
      clientId: `client ${index}`,
      names: [''],
      limits: [limit],
    };
    const wire = { time, roundTrip, jitter: fleet.jitter, random, load, alive: () => alive };
    const client = startClient({
      clock,
      limit,
      ledger: wired(store.open({ ...config, clock }), wire),
      waiting,
      cancel: fleet.cancel,
      // About as long as a request waits, so that some of them are granted before.
      cancelWithin: (2 * waiting * clients) / rate,
      random,
      granted({ moment }) {
        if (moment < start || moment >= start + span) return;
        counts.granted++;
        tenths[Math.floor(((moment - start) * 10) / span)]++;
      },
    });
    const crash = () => {
      alive = false;
    };
    return { leave: client.leave, crash };
  }

  const [late, leave, crash] = [fleet.late, fleet.leave, fleet.crash].map((part) =>
    Math.floor(part * clients),
  );
  for (let i = 0; i < clients; i++) {
    const isLate = i < late;
    const leaves = !isLate && i < late + leave;
    const crashes = !isLate && !leaves && i < late + leave + crash;
    // Processes do not start at the same time.
    time.after(random() * Math.min(100, warmUp / 4) + (isLate ? warmUp / 2 : 0), () => {
      const joined = join(i, !leaves && !crashes);
      if (leaves) time.after(warmUp / 2, joined.leave);
      if (crashes) time.after(warmUp / 2, joined.crash);
    });
  }
  time.runUntil(warmUp);
  const before = { ...load };
  load.longest = 0;
  time.runUntil(warmUp + span);
  const granted = tenths.reduce((sum, n) => sum + n, 0);
  const reserves = load.reserves - before.reserves;
  const heartbeats = load.heartbeats - before.heartbeats;
  const refunds = load.refunds - before.refunds;
  return {
    utilisation: granted / (rate * span),
    fairness: jain(stayed.map((counts) => counts.granted)),
    callsPerPermit: (reserves - heartbeats + refunds) / granted,
    callsPerSecond: ((reserves + refunds) * 1000) / span,
    line: load.longest,
    course: tenths.map((n) => (n * 10) / (rate * span)),
  };
}
