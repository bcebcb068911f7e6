import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import type { ReserveReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { carriedOver } from './carried.ts';
import { type Change, change, changes, kinds, standingOf, store } from './changes.ts';
import { historiesOf } from './history.ts';
import type { Standing } from './oracle.ts';
import { overWith } from './overCarried.ts';
import { openFleet, replay, someone } from './replay.ts';
import { slower, spans } from './scaled.ts';
import { type LimitSpec, mostOf, record, tokenBuckets } from './specs.ts';
import { heard } from './steered.ts';
import type { History } from './steps.ts';
import { ledgerNow } from './world.ts';

const anyKind = fc.oneof(...Object.values(kinds));

/** Milliseconds after which an idle limit grants anything, wherever it stands. */
function ownWait(limit: LimitSpec, permits: number): number {
  if (limit.kind === 'tokenBucket') return Math.ceil((permits * limit.interval) / limit.permits);
  // A window that goes on may lie across the grid.
  return limit.kind === 'fixedWindow' && limit.align === 'epoch' ? 2 * limit.interval : limit.interval;
}

/** What the old bucket owes, the new one pays back at its own rate: no slower here. */
function raised({ before, after }: Change): Change {
  const [old] = before.limits;
  const [young] = after.limits;
  if (old.kind !== 'tokenBucket' || young.kind !== 'tokenBucket') return { before, after };
  const { interval } = old;
  const limit: LimitSpec = {
    ...{ kind: 'tokenBucket', interval },
    permits: old.permits + young.permits,
    burst: Math.max(old.burst, young.burst),
  };
  return { before, after: { ...after, limits: [limit] } };
}

promise(
  'a request made after a rate was stored does not wait for void reservations',
  3000,
  fc.record({ both: changes(anyKind, anyKind).map(raised), part: fc.integer({ min: 1, max: 12 }) }),
  ({ both, part }) => {
    const fleet = openFleet(both.before);
    change(both, fleet);
    // The same limit once more is no change.
    if (fleet.world.phase === 0) return;
    const [limit] = both.after.limits;
    const permits = Math.min(part, mostOf(limit));
    const { serverUs } = fleet.world;
    const runs = [{ count: 1, cost: [permits], maxWait: Infinity }];
    const request = { runs, horizon: 0, held: 0, epoch: 0 };
    const { segments } = fleet.call({ kind: 'reserve', client: someone, serverUs, request }) as ReserveReply;
    assert.ok(segments[0].delay >= 0 && segments[0].delay <= heard + ownWait(limit, permits) + 1);
  },
);

/** Under one bucket after another. */
const buckets: fc.Arbitrary<readonly History[]> = record({
  histories: fc.array(historiesOf(tokenBuckets, { refunds: false, stepsBack: false, maxLength: 12 }), {
    minLength: 3,
    maxLength: 4,
  }),
  span: spans,
}).map(({ histories, span }) => histories.map((history) => slower(history, span)));

promise('permits taken from a bucket stay owed through every change', 2000, buckets, (histories) => {
  const fleet = openFleet(histories[0]);
  const { world } = fleet;
  let carried: Standing[] = [];
  let phase = 0;
  histories.forEach((history, i) => {
    const [limit] = history.limits;
    const granted = () => standingOf(world.standing.filter((grant) => grant.phase === phase));
    if (i > 0) {
      const stood = [...carried, ...granted()];
      store(history.limits, fleet);
      // The same limit once more is no change.
      if (world.phase > phase)
        carried = carriedOver(histories[i - 1].limits[0], limit, stood, ledgerNow(world));
      phase = world.phase;
    }
    replay(history, fleet);
    assert.equal(overWith(limit, carried, granted(), true), undefined);
  });
});

test.run();
