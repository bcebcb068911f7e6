// Deterministic: the clock is a fake one, and the fleets follow from their seeds.
import { loadOf, longestInterval } from '../src/limits/load.ts';
import { type Comparison, fleetAgainstIdeal } from '../test/contention/againstIdeal.ts';
import { type RandomFleet, randomFleet } from '../test/contention/randomFleet.ts';
import { seed } from '../test/support/seed.mjs';
import { printTable } from './support/table.ts';

export const question = 'Which of many random fleets keep the least of what one queue would keep?';

/** The number of fleets, unless SLUICE_RUNS is another one. */
const usual = 60;
/** Those that keep less than this part are printed, and at least so many. */
const enough = 0.9;
const least = 10;

export function run(): void {
  const count = Number(process.env.SLUICE_RUNS || usual);
  const fleets = Array.from({ length: count }, (_, i) => {
    const fleet = randomFleet(seed() + i);
    return { ...fleet, seed: seed() + i, ...compare(fleet) };
  }).sort((a, b) => a.part - b.part);
  const at = (part: number) => fleets[Math.floor(part * (count - 1))].part;
  printTable(
    ['fleets', 'least part', 'a tenth below', 'a quarter below', 'half below'],
    [[String(count), at(0), at(0.1), at(0.25), at(0.5)]],
  );
  console.log();
  printTable(
    ['fleet', 'seed', 'part', 'Jain', 'longest, s', 'calls'],
    fleets
      .filter(({ part }, i) => part < enough || i < least)
      .map(({ name, seed, part, jain, longest, calls }) => [
        ...[name, String(seed), part, jain, longest / 1000, calls],
      ]),
  );
}

/** So many requests are granted at least, but for refunds, as chance decides who keeps few. */
const leastRequests = 300;

/** Slow limits take longer, and are repeated more often. */
function compare({ limits, clients }: RandomFleet): Comparison {
  const fade = longestInterval({ limits });
  const warmUp = Math.min(26_000, Math.max(5600, 2.6 * fade));
  const span = Math.min(60_000, Math.max(12_000, 6 * fade));
  const load = Math.max(...clients[0].costs.map((cost) => loadOf({ limits }, cost)));
  const seeds = Math.min(24, Math.max(3, Math.ceil((leastRequests * load) / span)));
  return fleetAgainstIdeal(limits, clients, { roundTrip: 2, jitter: 0.3, warmUp, span, fade, seeds });
}
