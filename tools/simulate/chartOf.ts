import * as Plot from '@observablehq/plot';
import type { Case } from './cases.ts';
import type { Outcome } from './fleet.ts';

/** The load of the store: calls a second over permits a second, one dot for each fleet. */
export function chartOf(played: readonly (Case & Outcome)[]): Plot.PlotOptions {
  const fleets = played.map((one) => ({
    ...one,
    fleet: `${one.clients} ${one.clients === 1 ? 'client' : 'clients'}`,
  }));
  return {
    width: 720,
    height: 420,
    grid: true,
    marginLeft: 60,
    marginRight: 90,
    x: { type: 'log', label: 'permits a second' },
    y: { type: 'log', label: 'calls a second' },
    symbol: { legend: false },
    marks: [
      Plot.dot(fleets, { x: 'permits', y: 'callsPerSecond', r: 4, fill: 'roundTrip', symbol: 'cancel' }),
      Plot.text(
        fleets.filter(
          ({ roundTrip, cancel }) => roundTrip === fleets[0].roundTrip && cancel === fleets[0].cancel,
        ),
        { x: 'permits', y: 'callsPerSecond', text: 'fleet', dx: 8, textAnchor: 'start' },
      ),
    ],
  };
}
