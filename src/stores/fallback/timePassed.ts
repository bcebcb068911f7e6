import type { ReserveRequest } from '../store.ts';

/** A request after some milliseconds of its time have passed. */
export function withTimePassed(request: ReserveRequest, passed: number): ReserveRequest {
  const shorter = (ms: number) => (ms === 0 ? 0 : Math.max(1, ms - passed));
  return { ...request, runs: request.runs.map((run) => ({ ...run, maxWait: shorter(run.maxWait) })) };
}
