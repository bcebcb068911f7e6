import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { collectGarbage } from '../support/garbage.ts';

const keys = Array.from({ length: 20_000 }, (_, i) => `key-${i}`);

for (const limit of [fixedWindow, slidingWindow, tokenBucket])
  test(`an idle key of a group in the process takes at most 600 bytes: ${limit.name}`, async () => {
    const before = collectGarbage();
    const group = new RateLimiterGroup({ name: 'keys', limit: limit({ permits: 1_000, interval: 600_000 }) });
    for (const key of keys) assert.ok((await group.get(key).decide()).granted);
    const bytes = (collectGarbage() - before) / keys.length;
    assert.is(group.size, keys.length);
    assert.ok(bytes <= 600, `${bytes} bytes a key`);
  });

test.run();
