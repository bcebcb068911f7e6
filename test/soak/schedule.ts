import { randomFrom } from '../support/seed.mjs';

/** A fault of the fleet, and its time: milliseconds since the start. */
export interface Disturbance {
  readonly kind: Kind;
  readonly at: number;
  readonly lasts: number;
  /** The process, for a fault of one process. */
  readonly place: number;
}

const kinds = [
  'kill Redis, restart it with its AOF',
  'stop Redis (SIGSTOP)',
  'CLIENT KILL',
  'SCRIPT FLUSH',
  'FLUSHALL',
  'hold the wire',
  'cut replies on the wire',
  'kill a process',
  'stop a process (SIGSTOP)',
] as const;
export type Kind = (typeof kinds)[number];

/** Milliseconds at the end without a fault, in which every request has to be granted. */
export const calm = 12_000;

/**
 * The faults of a run, which follow from the seed and the length alone. Each kind comes once before any comes twice.
 */
export function scheduleOf(seed: number, length: number, processes: number): Disturbance[] {
  const random = randomFrom(seed);
  const schedule: Disturbance[] = [];
  let left: Kind[] = [];
  for (let at = 2_000; at < length - calm; at += 2_000 + 3_000 * random()) {
    if (left.length === 0) left = [...kinds];
    const [kind] = left.splice(Math.floor(random() * left.length), 1);
    const lasts = Math.round(100 + 1_200 * random());
    schedule.push({ kind, at: Math.round(at), lasts, place: Math.floor(random() * processes) });
  }
  return schedule;
}
