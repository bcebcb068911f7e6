// Prints the bytes of an idle key of a group, for one kind of limit; with a second argument, beside limiters of every kind.
import { RateLimiter } from '../../src/limiter/RateLimiter.ts';
import { RateLimiterGroup } from '../../src/limiter/RateLimiterGroup.ts';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { collectGarbage } from '../support/garbage.ts';

const kinds = { fixedWindow, slidingWindow, tokenBucket };

/** A limiter whose numbers are products of fractions, which V8 keeps in objects even if they are whole. */
async function used(limitOf: (rate: { permits: number; interval: number }) => Limit, half: number) {
  const rate = (twice: number) => ({ permits: twice * half, interval: twice * half * 1_000 });
  const limiter = new RateLimiter({ name: 'other', limit: limitOf(rate(10)) });
  await (await limiter.acquire(4 * half)).refund(2 * half);
  await limiter.setRate(limitOf(rate(14)));
  await limiter.decide(2 * half);
  return limiter;
}

const [, , kind, others] = process.argv;
const aligned = (rate: { permits: number; interval: number }) => fixedWindow({ ...rate, align: 'epoch' });
const limiters: RateLimiter[] = [];
if (others) for (const limitOf of [...Object.values(kinds), aligned]) limiters.push(await used(limitOf, 0.5));
const limitOf = kinds[kind as keyof typeof kinds];
const keys = Array.from({ length: 32_000 }, (_, i) => `key-${i}`);
const before = collectGarbage();
const group = new RateLimiterGroup({ name: 'keys', limit: limitOf({ permits: 1_000, interval: 600_000 }) });
for (const key of keys)
  if (!(await group.get(key).decide()).granted) throw new Error(`the permit of ${key} was refused`);
const bytes = (collectGarbage() - before) / keys.length;
if (group.size !== keys.length) throw new Error(`the group has ${group.size} keys`);
// Kept until here: V8 forgets the kinds of values of objects that are collected.
for (const limiter of limiters) await limiter.close();
console.log(bytes);
