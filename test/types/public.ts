// Checked by `npm run types` alone: what the public types accept and give.
import { Cluster, Redis } from 'ioredis';
import { asyncScheduler, type Observable, of } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import {
  acquirePermits,
  type Decision,
  memoryStore,
  type Permit,
  permits$,
  RateLimiter,
  slidingWindow,
  throttleDistributed,
  tokenBucket,
} from '../../src/index.ts';

/** Compiles only where the value is just of the type. */
declare function assert<Expected>(): <Actual>(
  value: Actual,
  ...same: (<T>() => T extends Actual ? 1 : 2) extends <T>() => T extends Expected ? 1 : 2 ? [] : [never]
) => void;

const limit = slidingWindow({ permits: 1, interval: 1 });
const one = new RateLimiter({ name: 'one', limit });
const two = new RateLimiter({
  name: 'two',
  limit: { requests: limit, tokens: tokenBucket({ permits: 9, interval: 9 }) },
});

new RateLimiter({ name: 'a', limit, redis: new Redis() });
new RateLimiter({ name: 'a', limit, redis: new Cluster([]) });
new RateLimiter({ name: 'a', limit, store: memoryStore(), scheduler: asyncScheduler });
new RateLimiter({ name: 'a', limit, scheduler: new TestScheduler(() => {}) });
// @ts-expect-error a limit is made by the functions of this package
new RateLimiter({ name: 'a', limit: { kind: 'slidingWindow', permits: 1, interval: 1, resolution: 1 } });
// @ts-expect-error a name is required
new RateLimiter({ limit });

one.acquire(2, { timeout: 1, signal: new AbortController().signal }).then((permit) => {
  assert<number>()(permit.waited);
  permit.refund(1);
});
one.tryAcquire().then(assert<boolean>());
one.decide().then(assert<Decision>());
one.availablePermits().then(assert<number>());
// @ts-expect-error permits are no string
one.acquire('1');

two.acquire({ requests: 1, tokens: 1250 }).then((permit) => permit.refund({ tokens: 250 }));
two.acquire({ tokens: 1 });
two.availablePermits({ detail: true }).then(assert<Record<'requests' | 'tokens', number>>());
// @ts-expect-error no limit has that name
two.acquire({ request: 1 });
// @ts-expect-error no limit has that name
two.acquire().then((permit) => permit.refund({ token: 1 }));

assert<Observable<string>>()(of('a').pipe(throttleDistributed(one)));
assert<Observable<string>>()(of('a').pipe(throttleDistributed(one, { permits: (value) => value.length })));
assert<Observable<number>>()(
  of('a').pipe(
    throttleDistributed(two, {
      permits: { tokens: 3 },
      project: (value, permit) => value.length + permit.waited,
    }),
  ),
);
assert<Observable<string>>()(of('a').pipe(acquirePermits(two, { requests: 2 }, { timeout: 5 })));
permits$(one).subscribe((permit) => assert<number>()(permit.grantedAt));
// @ts-expect-error no such strategy
throttleDistributed(one, { strategy: 'skip' });
// @ts-expect-error no limit has that name
throttleDistributed(two, { permits: { bytes: 1 } });

export const permit: Permit | undefined = undefined;
