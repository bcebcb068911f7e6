import { type Profiler, Session } from 'node:inspector';

/** Whether steps can be counted: not while coverage is measured, as that has the same counters. */
export const countsSteps = !process.env.NODE_V8_COVERAGE;

const session = new Session();
if (countsSteps) {
  // From the beginning, as code that was optimized before does not count.
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
}

/**
 * How often the work has called a function of the library, or begun a part of one, such as the body of a loop: the same number in
 * each run, however busy the machine is.
 */
export function stepsOf(work: () => void): number {
  takeSteps();
  work();
  return takeSteps();
}

/** The steps since the last call. */
function takeSteps(): number {
  let steps = 0;
  // Replies at once, as the session is of this thread.
  session.post('Profiler.takePreciseCoverage', (_, { result }: Profiler.TakePreciseCoverageReturnType) => {
    for (const { url, functions } of result)
      if (url.includes('/src/') && !url.includes('node_modules'))
        for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  });
  return steps;
}
