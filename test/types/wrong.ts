// Checked by `npm run types` only: what must not compile, by the names of options, limits and operators.
import { type Observable, of } from 'rxjs';
import {
  acquirePermits,
  fixedWindow,
  fromThrottled,
  leakyBucket,
  memoryStore,
  pauseOn,
  permits$,
  RateLimiter,
  RateLimiterGroup,
  slidingWindow,
  throttleDistributed,
  tokenBucket,
} from '../../src/index.ts';

const limit = slidingWindow({ permits: 1, interval: 1 });
const one = new RateLimiter({ name: 'one', limit });
const two = new RateLimiter({ name: 'two', limit: { requests: limit, tokens: limit } });
const group = new RateLimiterGroup({ name: 'group', limit });
const texts: Observable<string> = of('a');

// @ts-expect-error an interval is required
slidingWindow({ permits: 1 });
// @ts-expect-error the option is permits
slidingWindow({ permit: 1, interval: 1 });
// @ts-expect-error a sliding window has no burst
slidingWindow({ permits: 1, interval: 1, burst: 1 });
// @ts-expect-error windows start at the first permit or by the clock
fixedWindow({ permits: 1, interval: 1, align: 'hour' });
// @ts-expect-error a bucket has no resolution
tokenBucket({ permits: 1, interval: 1, resolution: 1 });
// @ts-expect-error the burst of a leaky bucket is 1
leakyBucket({ permits: 1, interval: 1, burst: 5 });

// @ts-expect-error the option is maxQueue
new RateLimiter({ name: 'a', limit, maxqueue: 1 });
// @ts-expect-error a scope is the fleet or a client
new RateLimiter({ name: 'a', limit, scope: 'process' });
// @ts-expect-error a store is one that memoryStore returns
new RateLimiter({ name: 'a', limit, store: new Map() });
// @ts-expect-error a fallback has a ratio of its own
new RateLimiter({ name: 'a', limit, fallback: { ratio: 'half' } });
new RateLimiter({ name: 'a', limit, store: memoryStore() });

// @ts-expect-error the option is timeout
one.acquire(1, { timeOut: 5 });
// @ts-expect-error a signal is not a controller
one.acquire(1, { signal: new AbortController() });
// @ts-expect-error a decision never waits
one.decide(1, { timeout: 5 });
// @ts-expect-error permits of a limit are a number
two.acquire({ requests: '1' });

// @ts-expect-error the option is timeout
throttleDistributed(one, { timout: 5 });
// @ts-expect-error a late value is an error, or is dropped
throttleDistributed(one, { onTimeout: 'skip' });
// @ts-expect-error a full queue is an error, or drops a value
throttleDistributed(one, { overflow: 'dropAll' });
// @ts-expect-error permits are a number
texts.pipe(throttleDistributed(one, { permits: (value) => value }));
// @ts-expect-error the values are texts
texts.pipe(throttleDistributed(one, { permits: (value: number) => value }));
// @ts-expect-error no limit has that name
texts.pipe(throttleDistributed(two, { permits: () => ({ bytes: 1 }) }));
// @ts-expect-error the key is a function
texts.pipe(throttleDistributed(group, { key: 'host' }));
// @ts-expect-error a limit is not a limiter
texts.pipe(throttleDistributed(limit));

// @ts-expect-error no limit has that name
acquirePermits(two, { bytes: 1 });
// @ts-expect-error a subscription has no strategy
acquirePermits(one, 1, { strategy: 'drop' });
// @ts-expect-error no limit has that name
permits$(two, { bytes: 1 });
// @ts-expect-error the option is maxAge
fromThrottled([1], one, { maxage: 5 });

// @ts-expect-error a pause is known at once
texts.pipe(pauseOn(one, async () => 5));
// @ts-expect-error a group has no pause of its own
texts.pipe(pauseOn(group, () => 5));
// @ts-expect-error the option is max
texts.pipe(pauseOn(one, () => 5, { most: 5 }));
