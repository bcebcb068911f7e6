// Deterministic: the clock is a fake one, and the fleets follow from their seeds.
import { loadOf } from '../src/limits/load.ts';
import { type Comparison, fleetAgainstIdeal, manyWindows } from '../test/contention/againstIdeal.ts';
import { type RandomFleet, randomFleet } from '../test/contention/randomFleet.ts';
import { seed } from '../test/support/seed.mjs';
import { printTable } from './support/table.ts';

export const question = 'Which of many random fleets keep the least of what one queue would keep?';

/** The number of fleets, unless SLUICE_RUNS gives another one. */
const usual = 60;
/** Those that keep less than this part are printed, and at least so many. */
const enough = 0.9;
const least = 10;

export function run(): void {
  const count = Number(process.env.SLUICE_RUNS || usual);
  const fleets = Array.from({ length: count }, (_, i) => {
    const fleet = randomFleet(seed() + i);
    return { name: fleet.name, from: seed() + i, ...compare(fleet) };
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
      .map(({ name, from, part, jain, longest, calls }) => [
        name,
        String(from),
        part,
        jain,
        longest / 1000,
        calls,
      ]),
  );
}

/** As many histories as grant so many requests without refunds, as chance decides who keeps few. */
const leastGrants = 300;

function compare({ limits, clients }: RandomFleet): Comparison {
  const [slowest] = [...limits].sort((a, b) => b.interval - a.interval);
  const during = manyWindows(slowest, Math.max(12_000, 6 * slowest.interval));
  const load = Math.max(...clients[0].costs.map((cost) => loadOf({ limits }, cost)));
  const seeds = Math.min(24, Math.max(3, Math.ceil((leastGrants * load) / during.span)));
  return fleetAgainstIdeal(limits, clients, { ...during, seeds });
}
