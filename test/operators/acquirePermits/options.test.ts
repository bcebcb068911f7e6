import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type AcquireOptions, acquirePermits, RateLimiter } from '../../../src/index.ts';
import { onePerThree } from '../../support/marbles.ts';
import { wrongAcquire } from '../../support/wrongAcquire.ts';

const test = suite('acquirePermits, arguments');
const limiter = new RateLimiter({ name: 'api', limit: onePerThree });

for (const [permits, options, type, message] of wrongAcquire) {
  test(`invalid arguments throw: ${message}`, () => {
    const make = () => acquirePermits(limiter, permits as number, options as AcquireOptions);
    assert.throws(make, (error: Error) => error.constructor === type && error.message === message);
  });
}

test('the operator needs a limiter', () => {
  const make = () => acquirePermits({} as RateLimiter);
  assert.throws(make, /^limiter: expected a RateLimiter or group\.get\(\), got an object$/);
});

test('the bounds themselves, and arguments left undefined, are accepted', () => {
  for (const options of [
    undefined,
    {},
    { timeout: 0 },
    { timeout: Infinity, signal: undefined },
    { signal: AbortSignal.abort() },
  ])
    assert.type(acquirePermits(limiter, undefined, options), 'function');
});

test.run();
