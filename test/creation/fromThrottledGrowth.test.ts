import { take } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fromThrottled, RateLimiterGroup, tokenBucket } from '../../src/index.ts';
import { growth } from '../support/growth.ts';
import { naturals } from './inputs.ts';

const wide = tokenBucket({ permits: 1_000_000, interval: 1, burst: 4_000_000 });

test('the work per value does not grow with the number of keys or values', () => {
  const factor = growth([2_000, 16_000], (size) => () => {
    const group = new RateLimiterGroup({ name: 'api', limit: wide });
    fromThrottled(naturals(), group, { key: (n) => `${n % (size / 10)}` })
      .pipe(take(size))
      .subscribe();
  });
  // Quadratic work would take 64 times as long.
  assert.ok(factor < 8 * 5, `8 times the values take ${factor.toFixed(1)} times as long`);
});

test.run();
