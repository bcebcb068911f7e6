import type { History, Step } from './steps.ts';

const runs = [{ count: 1, cost: [5], maxWait: Infinity }];
const reserve: Step = { kind: 'reserve', client: 0, runs, horizon: 100, held: 0 };

/**
 * The permits of a window on the clock are used in its last millisecond. One millisecond into the next window, the clock is set
 * back into the used one, whose permits a reservation takes when it starts again, but is cancelled. None of them is free before.
 */
export const closedAhead: History = {
  // Also a start of a window in the tests of the twins, which begin 1e12 microseconds later.
  startUs: 4_015_000,
  limits: [{ kind: 'fixedWindow', permits: 5, interval: 16, align: 'epoch' }],
  steps: [
    { kind: 'decide', client: 1, cost: [5] },
    { kind: 'advance', us: 2_000 },
    { kind: 'peek', client: 1 },
    { kind: 'stepBack', ms: 12 },
    reserve,
    { kind: 'cancel', client: 0, every: 1, newestFirst: false, ahead: true },
    reserve,
    reserve,
    { kind: 'advance', us: 1_000_000 },
  ],
};
