import { figuresOf } from '../model/measures.ts';
import type { Simulation } from '../model/simulation.ts';
import { letterOf } from './svg.ts';

const rows = 20;
const byId = (id: string) => document.getElementById(id)!;
const percent = (part: number) => `${Math.round(100 * part)} %`;
const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;

/** Shows the figures beside the timeline. Returns them as a sentence. */
export function showFigures(simulation: Simulation): string {
  const { span, utilisation, fairness, granted, waiting, meanWait } = figuresOf(simulation);
  const shown: Record<string, string> = {
    span: String(Math.round(span / 1_000)),
    utilisation: percent(utilisation),
    fairness: fairness?.toFixed(3) ?? '–',
    granted: String(granted),
    waiting: String(waiting),
    'mean-wait': meanWait === undefined ? '–' : `${Math.round(meanWait)} ms`,
  };
  for (const [id, text] of Object.entries(shown)) byId(id).textContent = text;
  byId('utilisation-bar').style.width = `${100 * utilisation}%`;
  byId('fairness-bar').style.width = `${100 * (fairness ?? 0)}%`;
  const count = (n: number) => `${n} request${n === 1 ? '' : 's'}`;
  return `In the last ${shown.span} s: ${count(granted)} granted, utilisation ${shown.utilisation}. ${count(waiting)} waiting.`;
}

/** Writes the last requests into the table, the newest first. */
export function showRequests({ fleet }: Simulation): void {
  const marbles = fleet.marbles.slice(-rows).reverse();
  byId('log').replaceChildren(
    ...marbles.map(({ id, process, state, arrivedAt, endedAt }) => {
      const row = document.createElement('tr');
      const ended =
        endedAt === undefined ? ['–', '–'] : [endedAt, Math.max(0, endedAt - arrivedAt)].map(seconds);
      for (const text of [letterOf(process), `${id}, at ${seconds(arrivedAt)}`, state, ...ended]) {
        const cell = document.createElement('td');
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    }),
  );
}
