import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'uvu';
import type { ReserveReply } from '../../src/stores/store.ts';
import { promise } from '../support/campaign.ts';
import { carriedOver } from './carried.ts';
import { type Change, change, changes, kinds, permitsByLedgerClock, store } from './changes.ts';
import { historiesOf } from './history.ts';
import type { PermitsAt } from './oracle.ts';
import { overWith } from './overCarried.ts';
import { openFleet, otherClient, replay } from './replay.ts';
import { slower, spans } from './scaled.ts';
import { type LimitSpec, mostOf, record, tokenBuckets } from './specs.ts';
import { noticePeriod } from './steered.ts';
import type { History } from './steps.ts';
import { ledgerNow } from './world.ts';

const anyKind = fc.oneof(...Object.values(kinds));

/** The longest wait for permits of an idle limit, in ms. */
function ownWait(limit: LimitSpec, permits: number): number {
  if (limit.kind === 'tokenBucket') return Math.ceil((permits * limit.interval) / limit.permits);
  // A window that continues may end off the grid.
  return limit.kind === 'fixedWindow' && limit.align === 'epoch' ? 2 * limit.interval : limit.interval;
}

/** A new bucket refills what was taken under the old limit at its own rate; this one is not slower. */
function raised({ before, after }: Change): Change {
  const [old] = before.limits;
  const [next] = after.limits;
  if (next.kind !== 'tokenBucket') return { before, after };
  const { interval } = old;
  const limit: LimitSpec = {
    ...{ kind: 'tokenBucket', interval },
    permits: old.permits + next.permits,
    burst: Math.max(mostOf(old), next.burst),
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
    // Storing the same limit again changes nothing.
    if (fleet.world.phase === 0) return;
    const [limit] = both.after.limits;
    const permits = Math.min(part, mostOf(limit));
    const { serverUs } = fleet.world;
    const runs = [{ count: 1, cost: [permits], maxWait: Infinity }];
    const request = { runs, horizon: 0, held: 0, epoch: 0 };
    const { segments } = fleet.call({
      kind: 'reserve',
      client: otherClient,
      serverUs,
      request,
    }) as ReserveReply;
    // A window before and one of reservations may be more than the burst of a bucket, which refills the rest first.
    const owed = limit.kind === 'tokenBucket' ? ownWait(limit, mostOf(both.before.limits[0])) : 0;
    const most = noticePeriod + owed + ownWait(limit, permits) + 1;
    assert.ok(segments[0].delay >= 0 && segments[0].delay <= most);
  },
);

/** Histories under successive buckets. */
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
  let carried: PermitsAt[] = [];
  let phase = 0;
  histories.forEach((history, i) => {
    const [limit] = history.limits;
    const granted = () => permitsByLedgerClock(world.grants.filter((grant) => grant.phase === phase));
    if (i > 0) {
      const earlier = [...carried, ...granted()];
      store(history.limits, fleet);
      // Storing the same limit again changes nothing.
      if (world.phase > phase)
        carried = carriedOver(histories[i - 1].limits[0], limit, earlier, ledgerNow(world));
      phase = world.phase;
    }
    replay(history, fleet);
    assert.equal(overWith(limit, carried, granted(), true), undefined);
  });
});

test.run();
