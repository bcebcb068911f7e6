import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Config, choices, defaults } from '../../playground/model/config.ts';
import { figuresOf } from '../../playground/model/measures.ts';
import { Simulation } from '../../playground/model/simulation.ts';
import { promise } from '../support/campaign.ts';
import { over } from './over.ts';

const configs: fc.Arbitrary<Config> = fc
  .record({
    kind: fc.constantFrom(...choices.kind),
    permits: fc.integer({ min: 1, max: 12 }),
    interval: fc.integer({ min: 100, max: 3_000 }),
    resolution: fc.constantFrom(0, 1, 50, 100),
    align: fc.constantFrom(...choices.align),
    burst: fc.constantFrom(0, 1, 5, 20),
    processes: fc.integer({ min: 1, max: 8 }),
    arrivals: fc.constantFrom('steady', 'bursts', 'poisson'),
    rate: fc.integer({ min: 1, max: 8 }),
  })
  .map((config) => ({ ...defaults, ...config }) as Config);

/** A user's action after each step: cancels the oldest wait, refunds, pauses, or nothing. */
const actions = fc.array(
  fc.record({
    ms: fc.integer({ min: 1, max: 900 }),
    action: fc.constantFrom('cancel', 'refund', 'pause', '', '', ''),
  }),
  { minLength: 10, maxLength: 40 },
);

/** A drawn window of this run once held 3 grants of 2: it had been placed before all of them were known. */
const early: [Config, { ms: number; action: string }[]] = [
  {
    ...defaults,
    ...{ kind: 'fixedWindow', permits: 2, interval: 100, resolution: 0, align: 'first', burst: 0 },
    ...{ processes: 3, arrivals: 'steady', rate: 7 },
  } as Config,
  [
    { ms: 1, action: 'pause' },
    { ms: 318, action: 'cancel' },
    { ms: 183, action: 'refund' },
    { ms: 1, action: 'cancel' },
    { ms: 199, action: 'cancel' },
    { ms: 1, action: 'cancel' },
  ],
];

/** In this run, a reservation was void from the moment at which it was due, and was kept all the same. */
const late: [Config, { ms: number; action: string }[]] = [
  {
    ...defaults,
    ...{ kind: 'fixedWindow', permits: 2, interval: 2731, resolution: 0, align: 'first', burst: 0 },
    ...{ processes: 6, arrivals: 'steady', rate: 3 },
  } as Config,
  [
    ...[370, 499, 880, 251, 612].map((ms) => ({ ms, action: 'cancel' })),
    { ms: 851, action: 'refund' },
    ...[200, 52, 857, 783, 75, 389, 196, 882, 28, 543, 726].map((ms) => ({ ms, action: 'cancel' })),
  ],
];

promise(
  'grants never exceed the limit, and no drawn window does, whatever a user does',
  600,
  fc.tuple(configs, actions),
  ([config, steps]) => {
    const simulation = new Simulation(config);
    const { fleet, limit } = simulation;
    for (const { ms, action } of steps) {
      simulation.advance(ms);
      if (action === 'refund') fleet.refundLast();
      if (action === 'pause') fleet.pause(300);
      if (action === 'cancel')
        for (const { id, state } of fleet.marbles.slice(-3)) if (state === 'waiting') fleet.cancel(id);
      for (const { count, most } of simulation.windows) assert.ok(count <= most, `${count} of ${most}`);
    }
    const counted = simulation.windows.reduce((sum, { count }) => sum + count, 0);
    if (limit.kind === 'fixedWindow')
      assert.is(counted, simulation.grants.length, 'each grant is in a window');
    assert.is(over(limit, simulation.grants), undefined);
    simulation.close();
  },
  { examples: [[early], [late]] },
);

test('the same configuration gives the same run, in small steps and in large ones', () => {
  const run = (step: number) => {
    const simulation = new Simulation(defaults);
    for (let at = 0; at < 12_000; at += step) simulation.advance(step);
    return simulation.fleet.marbles;
  };
  assert.equal(run(12_000), run(40));
  assert.ok(run(12_000).length > 40);
});

test('the simulation keeps the grants of the last minute only', () => {
  const simulation = new Simulation({ ...defaults, arrivals: 'steady', rate: 5 });
  for (let i = 0; i < 10; i++) simulation.advance(30_000);
  const [first] = simulation.grants;
  assert.ok(first > 235_000 && first < 245_000, `${first}`);
  assert.is(figuresOf(simulation).utilisation, 1);
});

test('a closed simulation has no request that waits', () => {
  const simulation = new Simulation({ ...defaults, permits: 1, interval: 5_000 });
  simulation.advance(3_000);
  assert.ok(figuresOf(simulation).waiting > 3);
  simulation.close();
  const before = simulation.grants.length;
  simulation.advance(20_000);
  assert.is(simulation.grants.length, before);
});

test.run();
