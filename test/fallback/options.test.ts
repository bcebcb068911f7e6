import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { fallbackOf } from '../../src/stores/fallback/fallbackOptions.ts';
import { assertRefuses, noDuration } from '../support/badInput.ts';
import { limit } from './fakes.ts';

const redis = { defineCommand() {} } as never;

/** A limiter with a fallback that the types would not allow. */
function giving(fallback: unknown) {
  return new RateLimiter({ name: 'api', limit, redis, fallback: fallback as never });
}

test('a mode stands for its options, and what is left out is as promised', () => {
  const rest = { ratio: 0.5, timeout: 500, cooldown: 1000 };
  for (const mode of ['local', 'reject', 'allow'] as const) assert.equal(fallbackOf(mode), { mode, ...rest });
  assert.equal(fallbackOf({}), { mode: 'local', ...rest });
  const all = { mode: 'reject', ratio: 0.1, timeout: 50.5, cooldown: 0 } as const;
  assert.equal(fallbackOf(all), all);
});

test('what is no fallback is refused', async () => {
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

test('a mode that does not exist is refused', () =>
  assertRefuses(
    (mode) => giving({ mode }),
    [
      ['remote', RangeError, '"remote"'],
      [1, TypeError, '1'],
    ],
    'fallback.mode',
    'one of "local", "reject", "allow"',
  ));

test('a ratio that is no part is refused', () =>
  assertRefuses(
    (ratio) => giving({ ratio }),
    [...noDuration, [0, RangeError, '0'], [1.01, RangeError, '1.01'], [Infinity, RangeError, 'Infinity']],
    'fallback.ratio',
    'a number above 0, at most 1',
  ));

for (const option of ['timeout', 'cooldown'])
  test(`a ${option} that is no duration is refused`, () =>
    assertRefuses(
      (ms) => giving({ [option]: ms }),
      noDuration,
      `fallback.${option}`,
      'milliseconds, 0 or more',
    ));

test('an option that does not exist is refused by its name', () => {
  assert.throws(() => giving({ ratoi: 0.5 }), /^ratoi: no such option; expected one of mode/);
});

test('a fallback without redis is refused, in a group too', () => {
  const message = /fallback: expected redis with it, got none/;
  assert.throws(() => new RateLimiter({ name: 'api', limit, fallback: 'local' }), message);
  assert.throws(() => new RateLimiterGroup({ name: 'api', limit, fallback: 'local' }), message);
});

test('a group hands its fallback to none of its limiters: they share it', () => {
  const group = new RateLimiterGroup({ name: 'api', limit, redis, fallback: 'local' });
  assert.not.throws(() => group.get('a'));
});

test('a fallback that is undefined counts as left out', () => {
  assert.not.throws(() => giving(undefined));
});

test.run();
