import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { overBucket, overSliding } from '../properties/oracle.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { type RedisServer, startRedis } from '../support/redisServer.ts';
import { ProcessFleet } from './fleet.ts';
import { jain, permitsWithin } from './measures.ts';

const processes = 6;
const interval = 1000;
const permits = 200;
/** Milliseconds that the fleet asks for, and when one of it is killed. */
const lasts = 5300;
const killAfter = 2300;

const test = suite<{ server: RedisServer; fleet: ProcessFleet }>('fleet');
test.before(async (context) => {
  context.server = await startRedis();
});
test.before.each(async (context) => {
  await context.server.command('FLUSHALL');
  context.fleet = await ProcessFleet.start(processes, context.server.port);
});
test.after.each(({ fleet }) => fleet.stop());
test.after(({ server }) => server.stop());

const limits = [
  { kind: 'slidingWindow', permits, interval, resolution: 1, over: overSliding },
  { kind: 'tokenBucket', permits, interval, burst: permits / 2, over: overBucket },
] as const;

for (const { over, ...limit } of limits)
  test(`six processes under a ${limit.kind}, one killed: never over, all of it used, in fair shares, nothing lost`, async ({
    fleet,
  }) => {
    const whims = {
      cancel: 0.15,
      cancelWithin: 3000,
      timeout: 0.15,
      timeoutWithin: 5000,
      refund: 0,
      most: 3,
    };
    const outcomes = await fleet.run({ limit: limit as LimitSpec, waiters: 30, lasts, ...whims }, killAfter);
    const [killed, ...survivors] = outcomes;
    const grants = outcomes.flatMap((outcome) => outcome.grants);

    assert.is(killed.tally, undefined);
    assert.ok(killed.grants.length > 0);
    assert.is(over(limit as never, grants), undefined);
    for (const { tally, grants } of survivors) {
      const { asked, granted, refused, cancelled } = tally!;
      assert.is(asked, granted + refused + cancelled);
      assert.is(granted, grants.length);
    }
    const sum = (of: 'calls' | 'longest' | 'refused' | 'cancelled') =>
      survivors.reduce((total, { tally }) => total + tally![of], 0);
    // On a busy machine one of them may have had none of these, but not all.
    assert.ok(sum('refused') > 0 && sum('cancelled') > 0);

    // Whole windows, from the second one on, in which everybody was hungry all the time.
    const first = grants.reduce((min, { t }) => Math.min(min, t), Infinity);
    const [from, to] = [first + interval, first + 5 * interval];
    // What the killed process held, and what it had not told yet, counts as not used: it is a few permits.
    const utilisation = permitsWithin(grants, from, to) / ((permits * (to - from)) / interval);
    const fairness = jain(survivors.map((outcome) => permitsWithin(outcome.grants, from, to)));
    const survived = survivors.flatMap((outcome) => outcome.grants).reduce((total, { n }) => total + n, 0);
    console.log(
      `${limit.kind}: utilisation ${utilisation.toFixed(3)}, fairness ${fairness.toFixed(4)}, ` +
        `${(sum('calls') / survived).toFixed(2)} calls per permit, at most ${sum('longest')} requests booked ahead`,
    );
    assert.ok(utilisation >= 0.95, `utilisation ${utilisation}`);
    assert.ok(fairness >= 0.95, `fairness ${fairness}`);
  });

for (const { over, ...limit } of limits)
  test(`six processes with a request or two each that cancel and give back, under a ${limit.kind}: never over, and in use`, async ({
    fleet,
  }) => {
    const whims = { cancel: 0.5, cancelWithin: 150, timeout: 0, timeoutWithin: 0, refund: 0.3, most: 1 };
    const outcomes = await fleet.run({ limit: limit as LimitSpec, waiters: 2, lasts, ...whims });
    const kept = outcomes.flatMap(({ grants }) => grants);
    assert.is(over(limit as never, kept), undefined);
    for (const { tally } of outcomes) {
      const { asked, granted, refused, cancelled, refunded } = tally!;
      assert.is(asked, granted + refused + cancelled + refunded);
      assert.ok(cancelled > 0 && refunded > 0);
    }
    const first = kept.reduce((min, { t }) => Math.min(min, t), Infinity);
    const [from, to] = [first + interval, first + 5 * interval];
    const utilisation = permitsWithin(kept, from, to) / ((permits * (to - from)) / interval);
    const fairness = jain(outcomes.map(({ grants }) => permitsWithin(grants, from, to)));
    console.log(`${limit.kind}: utilisation ${utilisation.toFixed(3)}, fairness ${fairness.toFixed(4)}`);
    // What is booked, or about to be given back, counts meanwhile: a few of twelve requests.
    assert.ok(utilisation >= 0.9, `utilisation ${utilisation}`);
    assert.ok(fairness >= 0.95, `fairness ${fairness}`);
  });

test.run();
