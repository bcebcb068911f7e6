// The expected state of the keys, derived from the log before a call.
import * as assert from 'uvu/assert';
import type { Expected } from './ours.ts';
import { type ClientId, type Config, counting, ownerFor, owners, permitsIn, type State } from './snapshot.ts';
import { interval } from './steps.ts';
import type { World } from './world.ts';

/** An expiry beyond this is a seal. */
const seal = 3e15;

/** After one of our calls the log holds the grants and no more, `value` agrees, and both live as long as needed. */
export function checkOurs(world: World, after: World['before'], client: ClientId, expected: Expected): void {
  const { config } = after;
  if (!config) return;
  const owner = ownerFor(config, client);
  const state = after.states[owner];
  const counts = counting(state, config.interval, world.us);
  const { least, most } = expected;
  assert.ok(counts >= least && counts <= most, `${counts} count, not ${least} to ${most}`);
  if (state.value !== undefined) assert.is(state.value, config.rate - permitsIn(state), '`value`');
  else assert.ok(permitsIn(state) === 0 || endsAtOnce(config, world.us), '`value` is missing');
  checkEnds(config, state);
  world.toldToEnd.delete(owner);
}

/** A known `value` ends before the config: that may be now. */
function endsAtOnce({ ends }: Config, us: number): boolean {
  return ends !== -1 && ends - 1 <= us / 1000;
}

function checkEnds(config: Config, { log, logEnds, valueEnds }: State): void {
  if (config.ends === -1) {
    assert.ok(logEnds < 0, `the config lasts, the log ends at ${logEnds}`);
    assert.ok(valueEnds < 0 || valueEnds > seal, `the config lasts, \`value\` ends at ${valueEnds}`);
    return;
  }
  const needed = Math.max(config.ends, ...log.map(({ at }) => at + config.interval));
  if (log.length > 0) {
    assert.ok(logEnds >= needed - 1, `the log ends at ${logEnds}, and is needed until ${needed}`);
    assert.ok(logEnds <= needed + 2, `the log ends at ${logEnds}, and is not needed after ${needed}`);
  }
  if (valueEnds === -2) return;
  assert.ok(valueEnds >= config.ends - 1, `\`value\` ends at ${valueEnds}, the config at ${config.ends}`);
  assert.ok(valueEnds <= needed + 2, `\`value\` ends at ${valueEnds}, and is not needed after ${needed}`);
}

/** As time passes, no log expires that still counts. */
export function checkTick({ before, toldToEnd, us }: World, after: World['before']): void {
  for (const owner of owners) {
    const had = counting(before.states[owner], interval, us);
    if (had > 0 && !toldToEnd.has(owner))
      assert.is(counting(after.states[owner], interval, us), had, `the log of ${owner} has ended`);
  }
}
