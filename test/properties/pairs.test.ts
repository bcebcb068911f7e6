import assert from 'node:assert/strict';
import { test } from 'uvu';
import { promise } from '../support/campaign.ts';
import { type Change, change, changes, kinds, standingOf } from './changes.ts';
import { judge } from './judge.ts';
import { overMoved, overWith } from './overCarried.ts';
import { openFleet, replay } from './replay.ts';
import { heard } from './steered.ts';

/**
 * What is granted after the change never breaks the new limit: not by itself, and not together with what stood before, as far
 * as the old limit still knew of it and clients need not have heard that it is void. And nothing else is taken for void.
 */
function neverOverTheNew(both: Change): void {
  const [old] = both.before.limits;
  const [limit] = both.after.limits;
  const fleet = openFleet(both.before);
  const { now, carried } = change(both, fleet);
  const goesOn = old.kind === limit.kind;
  const { phase, moves } = fleet.world;
  replay(both.after, fleet, (world) => {
    judge(world);
    const granted = world.standing.filter((grant) => grant.phase === phase && grant.counts[0]);
    const beforeMoves = granted.filter((grant) => grant.moves === moves);
    const breaches = carried().map(
      (stood) =>
        overWith(limit, stood, standingOf(beforeMoves), goesOn) ??
        overMoved(limit, stood, standingOf(granted), goesOn),
    );
    assert.ok(phase === 0 || breaches.includes(undefined), breaches[0]);
    for (const { ledgerMoment } of world.gone) assert.ok(ledgerMoment >= now + heard);
  });
}

for (const [from, old] of Object.entries(kinds))
  for (const [to, young] of Object.entries(kinds))
    promise(
      `from ${from} to ${to}, the new limit is never exceeded`,
      300,
      changes(old, young),
      neverOverTheNew,
    );

test.run();
