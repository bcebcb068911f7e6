import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { DecideReply, ReserveReply } from '../../src/stores/store.ts';
import { type Fleet, openFleet } from '../properties/replay.ts';
import type { LimitSpec } from '../properties/specs.ts';
import { promise } from '../support/campaign.ts';

function bucket(burst: number, permits = burst, startUs = 1_000_000_000): Fleet {
  const limit: LimitSpec = { kind: 'tokenBucket', permits, interval: 1000, burst };
  return openFleet({ startUs, limits: [limit], steps: [] });
}

function decide({ world, call }: Fleet, cost = [1]): DecideReply {
  return call({ kind: 'decide', client: 0, serverUs: world.serverUs, cost }) as DecideReply;
}

function delaysOf({ world, call }: Fleet, count: number): number[] {
  const runs = [{ count, cost: [1], maxWait: Infinity }];
  const request = { runs, horizon: 1e6, held: 0, epoch: 0 };
  const reply = call({ kind: 'reserve', client: 0, serverUs: world.serverUs, request }) as ReserveReply;
  return reply.segments.flatMap(({ count, delay }) => Array<number>(count).fill(delay));
}

const fractions = fc.integer({ min: 0, max: 999 });

promise(
  'a bucket of two gives its second permit at once, at any part of a millisecond',
  500,
  fractions,
  (us) => {
    const fleet = bucket(2, 2, 1_000_000_000 + us);
    assert.is(decide(fleet).granted, true);
    assert.is(decide(fleet).granted, true);
    assert.is(decide(fleet).granted, false);
  },
);

promise(
  'a decision on a full bucket of 100 leaves 99, at any part of a millisecond',
  500,
  fractions,
  (us) => {
    const { granted, available } = decide(bucket(100, 100, 1_000_000_000 + us));
    assert.equal({ granted, available }, { granted: true, available: [99] });
  },
);

promise('a grant made now is not charged for the time until its moment', 500, fractions, (us) => {
  const fleet = bucket(2, 1000, 1_000_000_000 + us);
  assert.equal(
    delaysOf(fleet, 3).map((ms) => Math.round(ms * 1000)),
    [0, 0, 1000 - us],
  );
});

test.run();
