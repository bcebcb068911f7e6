import { test } from 'uvu';
import { promise } from '../support/campaign.ts';
import { closedAhead } from './closedAhead.ts';
import { differentNeeds } from './differentNeeds.ts';
import { type Content, histories, historiesOf } from './history.ts';
import { judge } from './judge.ts';
import { manyGrants } from './manyGrants.ts';
import { openFleet, replay } from './replay.ts';
import { scaled } from './scaled.ts';
import { scarce } from './scarce.ts';
import {
  anyLimit,
  coarseSlidingWindows,
  exactSlidingWindows,
  fewLimits,
  fixedWindows,
  leakyBuckets,
  tokenBuckets,
} from './specs.ts';
import type { History } from './steps.ts';
import { takingTurns } from './turns.ts';

const runs = 5000;

function neverOver(history: History): void {
  replay(history, openFleet(history), judge);
}

promise('limits of rare permits, most of them refunded, are never exceeded', 1000, scarce, neverOver);
promise('records whose clients need different limits are never exceeded', 3000, differentNeeds, neverOver);
promise('windows whose permits come back while clients wait are never exceeded', 300, takingTurns, neverOver);
promise(
  'buckets with long histories, and pauses between, never exceed their limits',
  1000,
  manyGrants,
  neverOver,
);
promise(
  'a sliding window never exceeds its limit',
  runs,
  historiesOf(exactSlidingWindows, { debts: true }),
  neverOver,
);
promise(
  'a sliding window of slots never exceeds its limit',
  runs,
  historiesOf(coarseSlidingWindows, { debts: true }),
  neverOver,
);
promise(
  'a fixed window from the first permit never exceeds its limit',
  runs,
  historiesOf(fixedWindows('first'), { debts: true }),
  neverOver,
);
promise(
  'an aligned fixed window never exceeds its limit',
  runs,
  historiesOf(fixedWindows('epoch'), { debts: true }),
  neverOver,
  { examples: [[closedAhead]] },
);
promise(
  'a token bucket never exceeds its limit',
  runs,
  historiesOf(tokenBuckets, { debts: true }),
  neverOver,
);
promise(
  'a leaky bucket never exceeds its limit',
  runs,
  historiesOf(leakyBuckets, { debts: true }),
  neverOver,
);
promise(
  'up to three limits together are never exceeded',
  runs,
  histories(fewLimits, { debts: true }),
  neverOver,
);

const steered: Content = { steering: true, debts: true };

promise(
  'one limit is never exceeded, whatever rate is stored',
  3000,
  scaled(historiesOf(anyLimit, steered)),
  neverOver,
);
promise(
  'up to three limits together are never exceeded, whatever rate is stored',
  3000,
  scaled(histories(fewLimits, steered)),
  neverOver,
);

test('a step of the clock that moves the end of a pause does not lift it: reservations behind it stay valid', () => {
  const bucket = { kind: 'tokenBucket', permits: 1, interval: 1000, burst: 1 } as const;
  const [reserve, lasting] = [
    { kind: 'reserve', horizon: 3000, held: 0 } as const,
    { maxWait: Infinity, cost: [1] },
  ];
  neverOver({
    startUs: 0,
    limits: [bucket],
    steps: [
      { kind: 'advance', us: 1_000_000 },
      { kind: 'pause', client: 0, ms: 1 },
      { ...reserve, client: 0, runs: [{ ...lasting, count: 3 }] },
      // The ledger does not see this step: the time has passed again before the next call opens the ledger.
      { kind: 'stepBack', ms: 1000 },
      { kind: 'pause', client: 0, ms: 0 },
      { kind: 'advance', us: 1_000_000 },
      { ...reserve, client: 1, runs: [{ ...lasting, count: 1 }] },
    ],
  });
});

test('what comes back to a bucket ahead of a far reservation has room there', () => {
  const reserve = { kind: 'reserve', client: 0, horizon: 0, held: 0 } as const;
  const refund = {
    ...({ kind: 'refund', client: 2 } as const),
    picks: [{ place: 0, count: 1, parts: [100, 100] }],
  } as const;
  neverOver({
    startUs: 1_700_000_000_000_000,
    limits: [
      { kind: 'fixedWindow', permits: 1, interval: 100, align: 'first' },
      { kind: 'tokenBucket', permits: 6, interval: 50, burst: 5 },
    ],
    steps: [
      { ...reserve, runs: [{ count: 1, cost: [1, 0], maxWait: 0 }] },
      { ...reserve, client: 2, runs: [{ count: 2, cost: [0, 2], maxWait: 0 }] },
      { ...reserve, runs: [{ count: 1, cost: [1, 1], maxWait: Infinity }] },
      { kind: 'advance', us: 32_001 },
      { ...reserve, runs: [{ count: 1, cost: [0, 1], maxWait: 0 }] },
      { kind: 'advance', us: 1000 },
      refund,
      { kind: 'batch', client: 2, parts: [{ kind: 'owe', client: 2, permits: [0, 1] }, refund] },
      { ...reserve, runs: [{ count: 1, cost: [0, 5], maxWait: Infinity }] },
    ],
  });
});

test('a window on the clock follows the new time if its ledger was forgotten before a step', () => {
  const window = { kind: 'fixedWindow', permits: 1, interval: 21_000, align: 'epoch' } as const;
  const reserve = { kind: 'reserve', client: 0, horizon: 0, held: 0 } as const;
  neverOver({
    startUs: 0,
    limits: [window],
    steps: [
      { kind: 'advance', us: 100_000_000 },
      { ...reserve, runs: [{ count: 2, cost: [1], maxWait: Infinity }] },
      // The last window ends at 126 s.
      { kind: 'advance', us: 27_000_000 },
      { kind: 'peek', client: 0 },
      { kind: 'stepBack', ms: 44_000 },
      { ...reserve, runs: [{ count: 2, cost: [1], maxWait: 2000 }] },
    ],
  });
});

test('a window on the clock is not exceeded after a step of the clock and a move of reservations', () => {
  const window = { kind: 'fixedWindow', permits: 3, interval: 41_000, align: 'epoch' } as const;
  const reserve = { kind: 'reserve', held: 0 } as const;
  const lasting = { count: 1, cost: [2], maxWait: Infinity };
  neverOver({
    startUs: 1_700_000_000_000_000,
    limits: [window],
    steps: [
      {
        ...reserve,
        client: 1,
        runs: [
          { count: 1, cost: [1], maxWait: 1000 },
          { ...lasting, count: 2 },
        ],
        horizon: 0,
      },
      { kind: 'cancel', client: 1, every: 2, newestFirst: false, ahead: false },
      { kind: 'owe', client: 0, permits: [5] },
      { kind: 'advance', us: 4_000_000 },
      { kind: 'cancel', client: 0, every: 1, newestFirst: false, ahead: false },
      { kind: 'stepBack', ms: 1000 },
      { ...reserve, client: 0, runs: [{ count: 2, cost: [1], maxWait: Infinity }], horizon: 14_000 },
      { ...reserve, client: 0, runs: [lasting], horizon: 0 },
    ],
  });
});

test.run();
