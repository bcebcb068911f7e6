// Checked by `npm run types` only: what the public types accept and return.
import { Cluster, Redis } from 'ioredis';
import {
  asyncScheduler,
  type MonoTypeOperatorFunction,
  type Observable,
  type OperatorFunction,
  of,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import {
  acquirePermits,
  type Decision,
  type FromThrottledByKeyOptions,
  fromThrottled,
  type LimitedByKeyOptions,
  type Limiter,
  type LimiterGroup,
  limited,
  memoryStore,
  NotInitializedError,
  type Permit,
  type Permits,
  permits$,
  RateLimiter,
  RateLimiterGroup,
  RateType,
  RedissonRateLimiter,
  slidingWindow,
  type ThrottleDistributedOptions,
  throttleDistributed,
  tokenBucket,
} from '../../src/index.ts';
import { assert } from './assert.ts';

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
  permit.settle(1);
  // @ts-expect-error the used permits have no default
  permit.settle();
});
one.tryAcquire().then((value) => assert<boolean>()(value));
one.decide().then((value) => assert<Decision>()(value));
one.availablePermits().then((value) => assert<number>()(value));
// @ts-expect-error permits are not a string
one.acquire('1');

two.acquire({ requests: 1, tokens: 1250 }).then((permit) => permit.refund({ tokens: 250 }));
two.acquire({ requests: 1, tokens: 1250 }).then((permit) => permit.settle({ tokens: 1500 }));
two.acquire({ tokens: 1 });
two
  .availablePermits({ detail: true })
  .then((value) => assert<Record<'requests' | 'tokens', number>>()(value));
// @ts-expect-error no limit has that name
two.acquire({ request: 1 });
// @ts-expect-error no limit has that name
two.acquire().then((permit) => permit.refund({ token: 1 }));
// @ts-expect-error no limit has that name
two.acquire().then((permit) => permit.settle({ token: 1 }));

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
assert<Observable<number>>()(fromThrottled([1, 2], one));
assert<Observable<string>>()(fromThrottled('text', one, { permits: 2, timeout: 5 }));
assert<Observable<Promise<number>>>()(fromThrottled([Promise.resolve(1)], one));
assert<Observable<[string, number]>>()(fromThrottled(new Map([['a', 1]]), two, { permits: { tokens: 3 } }));
async function* pages() {
  yield { page: 1 };
}
assert<Observable<{ page: number }>>()(fromThrottled(pages(), one));
assert<Observable<number>>()(fromThrottled(new ReadableStream<number>(), one));
const numbers: Iterable<number> | AsyncIterable<number> = [1];
assert<Observable<number>>()(fromThrottled(numbers, one));
assert<Observable<[string, number]>>()(
  fromThrottled('text', one, { project: (letter, { grantedAt }) => [letter, grantedAt] as [string, number] }),
);
assert<Observable<Promise<void>>>()(
  fromThrottled([1], two, { permits: { tokens: 3 }, project: (_, permit) => permit.refund({ tokens: 1 }) }),
);
// @ts-expect-error the values are numbers
fromThrottled([1], one, { project: (value: string) => value });
// @ts-expect-error a promise is not an input
fromThrottled(Promise.resolve([1]), one);
// @ts-expect-error an Observable is not an input
fromThrottled(of(1), one);
// @ts-expect-error permits are constant: the value is not known yet
fromThrottled([1], one, { permits: (value: number) => value });
// @ts-expect-error no limit has that name
fromThrottled([1], two, { permits: { bytes: 1 } });
const groupOfOne = new RateLimiterGroup({ name: 'group', limit });
const groupOfTwo = new RateLimiterGroup({
  name: 'group',
  limit: (key) => ({ requests: limit, tokens: tokenBucket({ permits: key.length, interval: 9 }) }),
});
groupOfOne.get('a').acquire(2);
// What a function of a user's own may take.
export const byName = (group: LimiterGroup, limiter: Limiter) => [
  throttleDistributed(group, { key: (name: string) => name }),
  fromThrottled(['a'], group, { key: (name: string) => name }),
  acquirePermits(limiter),
];
assert<number>()(groupOfOne.size);
new RateLimiterGroup({ name: 'a', limit: () => limit, redis: new Redis(), maxQueue: 1 })
  .get('a')
  .tryAcquire();
groupOfTwo.get('a').acquire({ requests: 1, tokens: 2 });
// @ts-expect-error no limit has that name
groupOfTwo.get('a').acquire({ request: 1 });
const byFunction = new RateLimiterGroup({
  name: 'group',
  limit: () => ({ requests: limit, tokens: tokenBucket({ permits: 1, interval: 9 }) }),
});
assert<RateLimiterGroup<'requests' | 'tokens'>>()(byFunction);
assert<RateLimiterGroup<'requests'>>()(
  new RateLimiterGroup({ name: 'group', limit: (key) => ({ requests: key === 'a' ? limit : limit }) }),
);
// Of one limit alone the permits are a number, as of a limiter.
assert<RateLimiterGroup<string>>()(new RateLimiterGroup({ name: 'group', limit: () => limit }));
assert<RateLimiterGroup<string>>()(
  new RateLimiterGroup({
    name: 'group',
    limit: (key) => (key === 'a' ? limit : tokenBucket({ permits: 1, interval: 9 })),
  }),
);
// @ts-expect-error no limit has that name
byFunction.get('a').acquire({ request: 1 });
// @ts-expect-error a key is a string
groupOfOne.get(5);
// @ts-expect-error the function returns a limit
new RateLimiterGroup({ name: 'a', limit: () => 5 });
assert<Observable<string>>()(
  of('a').pipe(throttleDistributed(groupOfOne, { key: (value) => value.slice(1) })),
);
assert<Observable<number>>()(
  of('a').pipe(
    throttleDistributed(groupOfTwo, {
      key: (value) => value,
      permits: { tokens: 3 },
      project: (value, permit) => value.length + permit.waited,
    }),
  ),
);
// @ts-expect-error a group needs a key
of('a').pipe(throttleDistributed(groupOfOne));
// @ts-expect-error a limiter has no key
of('a').pipe(throttleDistributed(one, { key: (value: string) => value }));
// @ts-expect-error a key is a string
of('a').pipe(throttleDistributed(groupOfOne, { key: (value: string) => value.length }));
assert<Observable<string>>()(fromThrottled(['a'], groupOfOne, { key: (value) => value.slice(1) }));
assert<Observable<{ page: number }>>()(
  fromThrottled(pages(), groupOfOne, {
    key: ({ page }) => `${page}`,
    buffer: 5,
    permits: ({ page }, index) => page + index,
    timeout: 5,
    maxAge: 5,
  }),
);
assert<Observable<number>>()(
  fromThrottled('text', groupOfTwo, {
    key: (value) => value,
    permits: (value) => ({ tokens: value.length }),
    project: (value, { permits, waited }) => value.length + waited + (permits === 1 ? 1 : 0),
  }),
);
// @ts-expect-error a group needs a key
fromThrottled(['a'], groupOfOne);
// @ts-expect-error a group needs a key
fromThrottled(['a'], groupOfOne, { buffer: 5 });
// @ts-expect-error a key is a string
fromThrottled(['a'], groupOfOne, { key: (value) => value.length });
// @ts-expect-error the values are strings
fromThrottled(['a'], groupOfOne, { key: (value: number) => `${value}` });
// @ts-expect-error a limiter has no key
fromThrottled(['a'], one, { key: (value: string) => value });
// @ts-expect-error a limiter has no buffer
fromThrottled(['a'], one, { buffer: 5 });
// @ts-expect-error a buffer is a number
fromThrottled(['a'], groupOfOne, { key: String, buffer: '5' });
// @ts-expect-error a pulled value waits: it has no strategy
fromThrottled(['a'], groupOfOne, { key: String, strategy: 'drop' });
// @ts-expect-error no limit has that name
fromThrottled(['a'], groupOfTwo, { key: String, permits: { bytes: 1 } });
// @ts-expect-error no such strategy
throttleDistributed(one, { strategy: 'skip' });
// @ts-expect-error no limit has that name
throttleDistributed(two, { permits: { bytes: 1 } });

const length = one.wrap(async (text: string, times?: number) => text.length * (times ?? 1), { timeout: 5 });
assert<(text: string, times?: number) => Promise<number>>()(length);
const echo: <T>(value: T) => Promise<Awaited<T>> = one.wrap(<T>(value: T) => value);
echo('a').then((value) => assert<string>()(value));
two.wrap((text: string, _more: number) => text, { permits: (text) => ({ tokens: text.length }) });
const bound = one.wrap(
  function (this: { weight: number }, text: string) {
    return text;
  },
  {
    permits(text) {
      return this.weight * text.length;
    },
  },
);
bound.call({ weight: 1 }, 'a').then((value) => assert<string>()(value));
// @ts-expect-error a call passes another `this`
bound.call({}, 'a');
// @ts-expect-error the function takes a string
one.wrap((text: string) => text, { permits: (n: number) => n });
// @ts-expect-error permits are not a string
one.wrap((text: string) => text, { permits: (text) => text });
// @ts-expect-error no limit has that name
two.wrap(() => 1, { permits: { bytes: 1 } });
// @ts-expect-error only an operator drops
one.wrap(() => 1, { strategy: 'drop' });

const group = new RateLimiterGroup({ name: 'group', limit });
class Api {
  readonly weight = 2;

  @limited(one)
  async get(id: string, version?: number) {
    return `${id}@${version}`;
  }

  @limited(two, { permits: { tokens: 3 }, strategy: 'error', timeout: 5 })
  async echo<T>(value: T): Promise<T> {
    return value;
  }

  @limited(group, { key: (tenant: string) => tenant, permits: (_tenant: string, n: number) => n })
  async report(_tenant: string, n: number, _more?: boolean) {
    return n;
  }

  @limited(one, {
    permits(this: Api, text?: string) {
      return this.weight + (text?.length ?? 0);
    },
  })
  async maybe(text?: string) {
    return text;
  }

  // @ts-expect-error the method would return a promise
  @limited(one)
  now() {
    return 1;
  }

  // @ts-expect-error the method takes a string
  @limited(one, { permits: (n: number) => n })
  async other(text: string) {
    return text;
  }

  // @ts-expect-error the text may be missing
  @limited(one, { permits: (text: string) => text.length })
  async optional(text?: string) {
    return text;
  }

  // @ts-expect-error the method has no tenant
  @limited(group, { key: (_n: number, tenant: string) => tenant })
  async nobody(n: number) {
    return n;
  }

  // @ts-expect-error no limit has that name
  @limited(two, { permits: { bytes: 1 } })
  async bytes() {}

  // @ts-expect-error it is a method of another class
  @limited(one, {
    permits(this: Date) {
      return this.getDay();
    },
  })
  async daily() {}
}
assert<Promise<string>>()(new Api().get('a'));
assert<Promise<5>>()(new Api().echo(5 as const));
assert<(tenant: string, n: number, more?: boolean) => Promise<number>>()(new Api().report);
// @ts-expect-error a group needs a key
limited(group, { permits: 1 });
// @ts-expect-error a limiter has no key
limited(one, { key: () => 'a' });
export const byKey: LimitedByKeyOptions<number, [], Api> = { key: () => 'a' };

export const permit: Promise<Permit> = one.acquire();
export const anyPermit: Promise<Permit> = two.acquire();
export const permitOfTwo: Promise<Permit<Permits<'requests' | 'tokens'>>> = two.acquire();
// @ts-expect-error the type of a permit is that of its permits, not of their names
export const permitOfNames: Promise<Permit<'requests' | 'tokens'>> = two.acquire();
permitOfTwo.then((permit) => permit.settle({ tokens: 5 }));
// @ts-expect-error there is no such limit
permitOfTwo.then((permit) => permit.settle({ bytes: 5 }));
export const pulledByKey: FromThrottledByKeyOptions<number, string> = { key: String };
/** A user's function that takes any limiter. */
export function paced(limiter: Limiter, options: ThrottleDistributedOptions<string>): Observable<string> {
  return of('a').pipe(throttleDistributed(limiter, options));
}
paced(one, { timeout: 5 });

const redisson = new RedissonRateLimiter(new Redis(), 'redisson', { clientId: 'a' });
new RedissonRateLimiter(new Cluster([]), 'redisson');
paced(redisson, { timeout: 5 });
redisson.trySetRate(RateType.OVERALL, 1, 1, { keepAlive: 1 }).then((value) => assert<boolean>()(value));
redisson.setRate(RateType.PER_CLIENT, 1, 1, { keepState: true }).then((value) => assert<void>()(value));
redisson.updateRate(RateType.PER_CLIENT, 1, 1).then((value) => assert<boolean>()(value));
redisson.acquire(2, { timeout: 1, signal: new AbortController().signal }).then((permit) => permit.refund(1));
redisson.tryAcquire(1, 5).then((value) => assert<boolean>()(value));
redisson.availablePermits().then((value) => assert<number>()(value));
redisson.release(1).then((value) => assert<void>()(value));
redisson.getConfig().then(({ type, rate }) => {
  assert<RateType>()(type);
  assert<number>()(rate);
});
assert<0>()(RateType.OVERALL);
assert<1>()(RateType.PER_CLIENT);
export const notInitialized: 'ERR_SLUICE_NOT_INITIALIZED' = new NotInitializedError('redisson').code;
assert<Observable<string>>()(
  of('a').pipe(throttleDistributed(redisson, { permits: (value) => value.length })),
);
permits$(redisson).subscribe((permit) => assert<number>()(permit.grantedAt));
// @ts-expect-error the rate is not known before it is set, so the first call keeps what was granted
redisson.trySetRate(RateType.OVERALL, 1, 1, { keepState: true });
// @ts-expect-error a type is one of two
redisson.setRate(2, 1, 1);
// @ts-expect-error permits are a number: it has one limit
redisson.acquire({ tokens: 1 });
// @ts-expect-error it cannot be paused
redisson.pause(1);

// Only the type of the values is named.
assert<MonoTypeOperatorFunction<string>>()(acquirePermits<string>(one));
assert<MonoTypeOperatorFunction<string>>()(acquirePermits<string>(two, { tokens: 2 }));
assert<MonoTypeOperatorFunction<string>>()(acquirePermits<string>(redisson));
assert<MonoTypeOperatorFunction<string>>()(
  throttleDistributed<string>(two, { permits: ({ length }) => length }),
);
assert<MonoTypeOperatorFunction<string>>()(throttleDistributed<string>(groupOfOne, { key: (text) => text }));
assert<OperatorFunction<string, string>>()(throttleDistributed<string>(one, { project: (text) => text }));
assert<Observable<string>>()(fromThrottled<string>(['a'], one));
assert<Observable<string>>()(fromThrottled<string>(['a'], groupOfTwo, { key: (text) => text }));
assert<Observable<string>>()(fromThrottled<string>(['a'], one, { project: (text) => text }));
