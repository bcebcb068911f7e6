import * as Plot from '@observablehq/plot';
import type { Table } from './table.ts';

/** The ratios of a table as bars, with a line at 1, the baseline. Undefined for a table without ratios. */
export function chartOf({ heads, rows }: Table): Plot.PlotOptions | undefined {
  const column = heads.findIndex((head) => head === 'ratio' || head.startsWith('of '));
  if (column < 0) return undefined;
  const bars = rows.map((row) => ({ name: String(row[0]), ratio: Number(row[column]) }));
  return {
    width: 720,
    marginLeft: 250,
    marginRight: 60,
    x: { label: heads[column], grid: true },
    y: { label: null, domain: bars.map(({ name }) => name) },
    marks: [
      Plot.barX(bars, { x: 'ratio', y: 'name', fill: '#4078c0' }),
      Plot.text(bars, {
        x: 'ratio',
        y: 'name',
        text: ({ ratio }) => ratio.toPrecision(3),
        dx: 4,
        textAnchor: 'start',
      }),
      Plot.ruleX([1], { stroke: '#cf222e' }),
    ],
  };
}
