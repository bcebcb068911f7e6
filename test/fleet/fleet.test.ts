import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { breachesOf, countsOf } from '../history/check.ts';
import type { ProcessHistory } from '../history/histories.ts';
import type { PermitsAt } from '../properties/oracle.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { cases } from '../support/cases.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { type Outcome, ProcessFleet } from './fleet.ts';
import { jain, permitsWithin } from './measures.ts';

const processes = 6;
const interval = 1000;
const permits = 200;
/** Milliseconds of requests of the fleet, and the moment at which one process is killed. */
const lasts = 3300;
const killAfter = 2000;

const test = suite<{ server: RedisServer }>('fleet');
test.before(async (context) => {
  context.server = await startRedis();
});
test.after(({ server }) => server.stop());

/** How much of a limit a fleet used, and how evenly. */
interface Use {
  utilisation: number;
  fairness: number;
}

/** A process that waits for a processor for more than this part of its time keeps a fleet from its whole limit. */
const mostStarved = 0.05;

/**
 * Runs a fleet until it uses enough of the limit, and evenly enough: up to three times. If other load kept each of these runs from
 * the processors, the fleet has to use the part for whose time even the most delayed process could run. The promises that `run`
 * asserts have to hold each time.
 */
async function usesOf(
  server: RedisServer,
  least: Use,
  run: (fleet: ProcessFleet) => Promise<Use & Pick<Outcome, 'starved'>>,
): Promise<void> {
  const uses: string[] = [];
  let isStarved = true;
  let isEnough = false;
  for (let i = 0; i < 3; i++) {
    await server.command('FLUSHALL');
    const fleet = await ProcessFleet.start(processes, server.port);
    try {
      const { utilisation, fairness, starved } = await run(fleet);
      const reaches = (part: number) =>
        utilisation >= part * least.utilisation && fairness >= part * least.fairness;
      if (reaches(1)) return;
      const could = Math.max(0, 1 - starved / lasts);
      isStarved &&= could < 1 - mostStarved;
      isEnough ||= reaches(could);
      uses.push(
        `utilisation ${utilisation}, fairness ${fairness}, ${starved} of ${lasts} ms without a processor`,
      );
    } finally {
      await fleet.stop();
    }
  }
  const why = isStarved
    ? 'with so little time on a processor, the fleet could use more'
    : 'the fleet had the time on a processor to use more';
  assert.ok(isStarved && isEnough, `${why}: ${uses.join('; ')}`);
}

const limits = [
  { kind: 'slidingWindow', permits, interval, resolution: 1 },
  { kind: 'tokenBucket', permits, interval, burst: permits / 2 },
  { kind: 'fixedWindow', permits, interval, align: 'first' },
] as const satisfies LimitSpec[];

/** The permits that a process was granted and has kept. */
function keptBy({ requests }: ProcessHistory): PermitsAt[] {
  return requests.flatMap(({ moment, permits, returned }) =>
    moment === undefined ? [] : { t: moment, n: permits - returned },
  );
}

for (const [limit] of cases(limits))
  test(`six processes under a ${limit.kind}, one killed: never exceed the limit, use all of it in fair shares, and lose nothing`, ({
    server,
  }) =>
    usesOf(server, { utilisation: 0.95, fairness: 0.95 }, async (fleet) => {
      const whims = {
        cancel: 0.15,
        cancelWithin: 3000,
        timeout: 0.15,
        timeoutWithin: 5000,
        refund: 0,
        most: 3,
      };
      const outcome = await fleet.run({ limit, waiters: 30, lasts, ...whims }, killAfter);
      const { processes: all, longest } = outcome;
      const [killed, ...survivors] = all;
      const grants = all.flatMap(keptBy);
      assert.equal(breachesOf(outcome), []);
      assert.not.ok(killed.stopped);
      assert.ok(keptBy(killed).length > 0);
      const { refused, cancelled, calls } = countsOf({ processes: survivors, faults: [] });
      // On a busy machine one of them may have had none of these, but not all.
      assert.ok(survivors.every(({ stopped }) => stopped) && refused > 0 && cancelled > 0);

      // Whole windows, from the second one on, in which every process always had waiting requests.
      const first = grants.reduce((min, { t }) => Math.min(min, t), Infinity);
      const [from, to] = [first + interval, first + 3 * interval];
      // Permits reserved by the killed process, and those not reported yet, count as unused: a few permits.
      const utilisation = permitsWithin(grants, from, to) / ((permits * (to - from)) / interval);
      const fairness = jain(survivors.map((outcome) => permitsWithin(keptBy(outcome), from, to)));
      const survived = survivors.flatMap(keptBy).reduce((total, { n }) => total + n, 0);
      console.log(
        `${limit.kind}: utilisation ${utilisation.toFixed(3)}, fairness ${fairness.toFixed(4)}, ` +
          `${(calls / survived).toFixed(2)} calls per permit, at most ${longest} requests of a process reserved ahead`,
      );
      return { utilisation, fairness, starved: outcome.starved };
    }));

for (const [limit] of cases([...limits].reverse()))
  test(`six processes with one or two requests each that cancel and refund, under a ${limit.kind}: never exceed the limit, and use it`, ({
    server,
  }) =>
    usesOf(server, { utilisation: 0.95, fairness: 0.95 }, async (fleet) => {
      const whims = { cancel: 0.5, cancelWithin: 150, timeout: 0, timeoutWithin: 0, refund: 0.3, most: 1 };
      const outcome = await fleet.run({ limit, waiters: 2, lasts, ...whims });
      const kept = outcome.processes.flatMap(keptBy);
      assert.equal(breachesOf(outcome), []);
      for (const { requests, stopped } of outcome.processes) {
        assert.ok(stopped && requests.some(({ end }) => end === 'cancelled'));
        assert.ok(requests.some(({ returned }) => returned > 0));
      }
      const first = kept.reduce((min, { t }) => Math.min(min, t), Infinity);
      const [from, to] = [first + interval, first + 3 * interval];
      const utilisation = permitsWithin(kept, from, to) / ((permits * (to - from)) / interval);
      const fairness = jain(outcome.processes.map((one) => permitsWithin(keptBy(one), from, to)));
      console.log(`${limit.kind}: utilisation ${utilisation.toFixed(3)}, fairness ${fairness.toFixed(4)}`);
      return { utilisation, fairness, starved: outcome.starved };
    }));

test.run();
