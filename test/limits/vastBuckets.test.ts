import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { tokenBucket } from '../../src/limits/limit.ts';
import { algebraOf } from '../../src/limits/states.ts';
import { promise } from '../support/campaign.ts';

const rates = fc.integer({ min: 2 ** 40, max: 2 ** 53 - 1 });
const moments = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 8 });
const now = 1_700_000_000_000;

promise(
  'a bucket grants a request at the moment that it offers, also beyond 2^53 units',
  2000,
  fc.record({ permits: rates, burst: fc.integer({ min: 1, max: 9 }), moments }),
  ({ permits, burst, moments }) => {
    const limit = tokenBucket({ permits, interval: 1, burst });
    const algebra = algebraOf(limit);
    const state = algebra.create(limit as never) as never;
    algebra.roll(state, now, 0);
    for (const later of moments) {
      const offered = algebra.earliest(state, now, now, burst, (() => true) as never);
      assert.ok(algebra.fit(state, now, offered, burst) >= 1, `nothing fits at ${offered - now}`);
      // A pause or another limit makes the request wait for longer.
      algebra.commit(state, now, offered + later, 1, false);
    }
  },
);

test.run();
