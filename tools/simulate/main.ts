// `npm run simulate` runs the cases of cases.ts; `npm run simulate -- --clients 50 --permits 2000` runs a single case.
import { Command, InvalidArgumentError } from 'commander';
import { printTable } from '../../bench/support/table.ts';
import { slidingWindow } from '../../src/limits/limit.ts';
import { writeChart } from '../chart.ts';
import { type Case, cases } from './cases.ts';
import { chartOf } from './chartOf.ts';
import { type Outcome, simulate } from './fleet.ts';

/** The targets of every fleet in its steady state. */
const goals = { utilisation: 0.99, fairness: 0.98, callsPerPermit: 1.05 };

const interval = 1_000;
/** The approximate permits of a client in a measured span: with few of them, even a fair queue is uneven. */
const permitsEach = 40;

interface Options extends Case {
  late: number;
  leave: number;
  crash: number;
  jitter: number;
  seconds?: number;
  seed: number;
  chart: string;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('expected a number, at least 0');
  return value;
}

const command = new Command('simulate')
  .description('Runs fleets of real dispatchers over the real algebra in virtual time.')
  .option('--clients <count>', 'processes that share the limit', number)
  .option('--permits <count>', 'permits a second', number)
  .option('--round-trip <ms>', 'milliseconds to Redis and back', number)
  .option('--cancel <part>', 'the part of the requests that may be cancelled', number)
  .option('--jitter <part>', 'the part of a trip by which it may be longer', number, 0.5)
  .option('--late <part>', 'the part of the processes that join late', number, 0.1)
  .option('--leave <part>', 'the part that leaves', number, 0.1)
  .option('--crash <part>', 'the part that crashes', number, 0.1)
  .option('--seconds <count>', 'the measured time; by default the time for 40 permits a client', number)
  .option('--seed <number>', 'the seed of the random choices', number, 1)
  .option('--chart <file>', 'the file of the chart', 'bench/charts/simulate.svg')
  .parse();
const options = command.opts<Options>();

const { clients = 10, permits = 1_000, roundTrip = 0.4, cancel = 0 } = options;
const isOwn = ['clients', 'permits', 'roundTrip', 'cancel'].some(
  (name) => command.getOptionValueSource(name) === 'cli',
);
const chosen = isOwn ? [{ clients, permits, roundTrip, cancel }] : cases;

const heads = 'clients|permits/s|ms|cancel|used|Jain|calls/permit|calls/s|line ms'.split('|');
const played: (Case & Outcome)[] = [];
for (const one of chosen) {
  const least = 1_000 * Math.max(3, (permitsEach * one.clients) / one.permits);
  const span = options.seconds ? options.seconds * 1_000 : interval * Math.ceil(least / interval);
  const { late, leave, crash, jitter, seed } = options;
  const limit = slidingWindow({ permits: one.permits, interval });
  // The reservations of a crashed client, and its entry as a contender, have expired by then.
  const warmUp = 8_000;
  const outcome = simulate({ ...one, limit, late, leave, crash, jitter, seed, warmUp, span });
  played.push({ ...one, ...outcome });
  process.stderr.write(`\r${played.length} of ${chosen.length}`);
}
process.stderr.write('\n');

printTable(
  heads,
  played.map((one) => [
    ...[one.clients, one.permits, one.roundTrip, one.cancel].map(String),
    ...[one.utilisation, one.fairness].map((part) => part.toFixed(3)),
    ...[one.callsPerPermit, one.callsPerSecond, one.line],
  ]),
);
writeChart(options.chart, 'Calls a second over permits a second of simulated fleets', chartOf(played));
console.log(`\n${options.chart}`);

const short = played.filter(
  ({ utilisation, fairness, callsPerPermit }) =>
    utilisation < goals.utilisation || fairness < goals.fairness || callsPerPermit > goals.callsPerPermit,
);
if (short.length > 0) {
  const { utilisation, fairness, callsPerPermit } = goals;
  console.log(
    `${short.length} of ${played.length} miss a target: ${utilisation} used, Jain ${fairness}, ${callsPerPermit} calls a permit`,
  );
  process.exitCode = 1;
}
