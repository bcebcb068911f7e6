import type { Histories } from './histories.ts';
import { rules } from './rules.ts';

/** The breaches of the histories, as lines; none for valid histories. */
export function breachesOf(histories: Histories): string[] {
  return Object.entries(rules).flatMap(([name, rule]) => {
    const breach = rule(histories);
    return breach ? [`${name}: ${breach}`] : [];
  });
}

/** Counts of the histories, for a table. */
export function countsOf({ processes, faults }: Histories): Record<string, number> {
  const requests = processes.flatMap((one) => one.requests);
  const ended = (end: string) => requests.filter((request) => request.end === end).length;
  return {
    processes: processes.length,
    faults: faults.length,
    requests: requests.length,
    granted: ended('granted'),
    refused: ended('refused'),
    cancelled: ended('cancelled'),
    failed: ended('failed'),
    calls: processes.reduce((sum, { calls }) => sum + calls.length, 0),
  };
}
