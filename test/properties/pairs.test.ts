import assert from 'node:assert/strict';
import { test } from 'uvu';
import { promise } from '../support/campaign.ts';
import { type Change, change, changes, kinds, permitsByLedgerClock } from './changes.ts';
import { judge } from './judge.ts';
import { overMoved, overWith } from './overCarried.ts';
import { openFleet, replay } from './replay.ts';
import { noticePeriod } from './steered.ts';

/**
 * Grants after the change never exceed the new limit: neither alone, nor together with the earlier grants that the old limit
 * remembered and that are not void. Only reservations beyond the notice period become void.
 */
function neverOverTheNew(both: Change): void {
  const [old] = both.before.limits;
  const [limit] = both.after.limits;
  const fleet = openFleet(both.before);
  const { now, carried } = change(both, fleet);
  const continues = old.kind === limit.kind;
  const { phase, moves } = fleet.world;
  replay(both.after, fleet, (world) => {
    judge(world);
    const granted = world.grants.filter((grant) => grant.phase === phase && grant.counts[0]);
    const beforeMoves = granted.filter((grant) => grant.moves === moves);
    const breaches = carried().map(
      (earlier) =>
        overWith(limit, earlier, permitsByLedgerClock(beforeMoves), continues) ??
        overMoved(limit, earlier, permitsByLedgerClock(granted), continues),
    );
    assert.ok(phase === 0 || breaches.includes(undefined), breaches[0]);
    for (const { ledgerMoment } of world.voided) assert.ok(ledgerMoment >= now + noticePeriod);
  });
}

for (const [from, old] of Object.entries(kinds))
  for (const [to, next] of Object.entries(kinds))
    promise(
      `from ${from} to ${to}, the new limit is never exceeded`,
      300,
      changes(old, next),
      neverOverTheNew,
    );

test('a window that continues may begin earlier than its reservation', () => {
  const reserve = { kind: 'reserve', client: 0, horizon: 0, held: 0 } as const;
  neverOverTheNew({
    before: {
      startUs: 0,
      limits: [{ kind: 'fixedWindow', permits: 1, interval: 28, align: 'epoch' }],
      // Grants at 272 and 280.
      steps: [
        { kind: 'advance', us: 271_743 },
        { ...reserve, client: 1, runs: [{ count: 2, cost: [1], maxWait: Infinity }] },
      ],
    },
    after: {
      startUs: 0,
      limits: [{ kind: 'fixedWindow', permits: 2, interval: 8, align: 'first' }],
      steps: [
        { kind: 'advance', us: 1257 },
        { ...reserve, runs: [{ count: 1, cost: [2], maxWait: Infinity }] },
        { kind: 'cancel', client: 0, every: 1, newestFirst: false, ahead: false },
        // At 273, in a window of eight milliseconds that also holds the grant at 280.
        { ...reserve, runs: [{ count: 1, cost: [1], maxWait: 2 }] },
      ],
    },
  });
});

test.run();
