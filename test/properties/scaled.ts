import fc from 'fast-check';
import { type LimitSpec, record } from './specs.ts';
import type { History, Step } from './steps.ts';

/** Factors for the times of a history. */
export const spans = fc.constantFrom(1, 1, 37, 1000);

/** The same histories, some of them with longer times: seconds and minutes. */
export function scaled(values: fc.Arbitrary<History>): fc.Arbitrary<History> {
  return record({ history: values, factor: spans }).map(({ history, factor }) => slower(history, factor));
}

/** The history with its times multiplied by `factor`. */
export function slower(history: History, factor: number): History {
  const { limits, steps } = history;
  return { ...history, limits: longer(limits, factor), steps: steps.map((step) => slowerStep(step, factor)) };
}

/** Keeps the resolution, so that the logs become longer too. */
function longer(limits: readonly LimitSpec[], factor: number): LimitSpec[] {
  return limits.map((limit) => ({ ...limit, interval: limit.interval * factor }));
}

function slowerStep(step: Step, factor: number): Step {
  if (step.kind === 'advance') return { ...step, us: step.us * factor };
  if (step.kind === 'stepBack' || step.kind === 'pause') return { ...step, ms: step.ms * factor };
  if (step.kind === 'setRate') return { ...step, limits: longer(step.limits, factor) };
  if (step.kind !== 'reserve') return step;
  const runs = step.runs.map((run) => ({ ...run, maxWait: run.maxWait * factor }));
  return { ...step, runs, horizon: step.horizon * factor, held: step.held * factor };
}
