// Prints the bytes of an idle key of a group, for one kind of limit.
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { fixedWindow, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { collectGarbage } from '../support/garbage.ts';

const kinds = { fixedWindow, slidingWindow, tokenBucket };
const limitOf = kinds[process.argv[2] as keyof typeof kinds];
const keys = Array.from({ length: 32_000 }, (_, i) => `key-${i}`);
const before = collectGarbage();
const group = new RateLimiterGroup({ name: 'keys', limit: limitOf({ permits: 1_000, interval: 600_000 }) });
for (const key of keys)
  if (!(await group.get(key).decide()).granted) throw new Error(`the permit of ${key} was refused`);
const bytes = (collectGarbage() - before) / keys.length;
if (group.size !== keys.length) throw new Error(`the group has ${group.size} keys`);
console.log(bytes);
