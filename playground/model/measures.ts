import { jain } from '../../test/fleet/measures.ts';
import type { Simulation } from './simulation.ts';

/** The figures of the last seconds. */
export interface Figures {
  /** The length of the time that is measured, in milliseconds. */
  span: number;
  granted: number;
  waiting: number;
  /** The used part of the permits. */
  utilisation: number;
  /** Jain's index over the grants of the processes; undefined without a grant. */
  fairness: number | undefined;
  /** The mean time from a request to its grant, in milliseconds; undefined without a grant. */
  meanWait: number | undefined;
}

/** Returns the figures of the last ten seconds, or the last five intervals if they are longer. */
export function figuresOf({ now, limit, fleet }: Simulation): Figures {
  const span = Math.min(now, Math.max(10_000, 5 * limit.interval));
  const marbles = fleet.marbles;
  const granted = marbles.filter(({ state, endedAt }) => state === 'granted' && endedAt! > now - span);
  const counts = Array.from(
    { length: fleet.processes },
    (_, process) => granted.filter((marble) => marble.process === process).length,
  );
  const waited = granted.reduce((sum, { arrivedAt, endedAt }) => sum + Math.max(0, endedAt! - arrivedAt), 0);
  const any = granted.length > 0;
  return {
    span,
    granted: granted.length,
    waiting: marbles.filter(({ state }) => state === 'waiting').length,
    utilisation: span > 0 ? Math.min(1, (granted.length * limit.interval) / (limit.permits * span)) : 0,
    fairness: any ? jain(counts) : undefined,
    meanWait: any ? waited / granted.length : undefined,
  };
}
