import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { fallbackOf } from '../../src/stores/fallback/fallbackOptions.ts';
import { assertRefuses, noDuration } from '../support/badInput.ts';
import { limit } from './fakes.ts';

const redis = { defineCommand() {} } as never;

/** A limiter with a fallback that the types reject. */
function giving(fallback: unknown) {
  return new RateLimiter({ name: 'api', limit, redis, fallback: fallback as never });
}

test('a mode is short for its options, and the defaults are as documented', () => {
  const rest = { ratio: 0.5, timeout: 500, cooldown: 1000 };
  for (const mode of ['local', 'reject', 'allow'] as const) assert.equal(fallbackOf(mode), { mode, ...rest });
  assert.equal(fallbackOf({}), { mode: 'local', ...rest });
  const all = { mode: 'reject', ratio: 0.1, timeout: 50.5, cooldown: 0 } as const;
  assert.equal(fallbackOf(all), all);
});

test('rejects a value that is no fallback', async () => {
  await assertRefuses(
    giving,
    [
      [5, TypeError, '5'],
      [null, TypeError, 'null'],
      [true, TypeError, 'true'],
      ['redis', RangeError, '"redis"'],
    ],
    'fallback',
    'one of "local", "reject", "allow"',
  );
  await assertRefuses(giving, [[[], TypeError, 'an array']], 'fallback', 'an object');
});

test('rejects an unknown mode', () =>
  assertRefuses(
    (mode) => giving({ mode }),
    [
      ['remote', RangeError, '"remote"'],
      [1, TypeError, '1'],
    ],
    'fallback.mode',
    'one of "local", "reject", "allow"',
  ));

test('rejects a ratio outside 0 to 1', () =>
  assertRefuses(
    (ratio) => giving({ ratio }),
    [...noDuration, [0, RangeError, '0'], [1.01, RangeError, '1.01'], [Infinity, RangeError, 'Infinity']],
    'fallback.ratio',
    'a number above 0, at most 1',
  ));

for (const option of ['timeout', 'cooldown'])
  test(`rejects a ${option} that is not a duration`, () =>
    assertRefuses(
      (ms) => giving({ [option]: ms }),
      noDuration,
      `fallback.${option}`,
      'milliseconds, 0 or more',
    ));

test('rejects an unknown option by its name', () => {
  assert.throws(() => giving({ ratoi: 0.5 }), /^ratoi: no such option; expected one of mode/);
});

test('rejects a fallback without redis, in a group too', () => {
  const message = /fallback: expected redis with it, got none/;
  assert.throws(() => new RateLimiter({ name: 'api', limit, fallback: 'local' }), message);
  assert.throws(() => new RateLimiterGroup({ name: 'api', limit, fallback: 'local' }), message);
});

test('shares one fallback among the limiters of a group', () => {
  const group = new RateLimiterGroup({ name: 'api', limit, redis, fallback: 'local' });
  assert.not.throws(() => group.get('a'));
});

test('treats an undefined fallback as omitted', () => {
  assert.not.throws(() => giving(undefined));
});

test.run();
