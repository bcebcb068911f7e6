import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryStore, RateLimiter, type RateLimiterOptions, slidingWindow } from '../../src/index.ts';
import { assertRefuses, noString } from '../support/badInput.ts';

const test = suite('scope');
const limit = slidingWindow({ permits: 2, interval: 60_000 });

/** Limiters of one name and one store, each with its own options. */
function limiters(...options: Partial<RateLimiterOptions>[]): RateLimiter[] {
  const store = memoryStore();
  return options.map((more) => new RateLimiter({ name: 'api', limit, store, ...more }));
}

test('each client has the whole limit for itself', async () => {
  const [a, b] = limiters({ scope: 'client', clientId: 'a' }, { scope: 'client', clientId: 'b' });
  await a.acquire(2);
  assert.is(await a.availablePermits(), 0);
  assert.is(await b.availablePermits(), 2);
});

test('limiters of the same client share its limit', async () => {
  const [a, b] = limiters({ scope: 'client', clientId: 'a' }, { scope: 'client', clientId: 'a' });
  await a.acquire();
  assert.is(await b.availablePermits(), 1);
});

test('grants of clients do not count for the fleet', async () => {
  const [client, fleet] = limiters({ scope: 'client', clientId: 'a' }, { scope: 'fleet', clientId: 'a' });
  await client.acquire(2);
  assert.is(await fleet.availablePermits(), 2);
});

test('a scope that does not exist is refused', () =>
  assertRefuses(
    (scope) => new RateLimiter({ name: 'api', limit, scope: scope as never }),
    [...noString, ['all', RangeError, '"all"']],
    'scope',
    'one of "fleet", "client"',
  ));

test.run();
