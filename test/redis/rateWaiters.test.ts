import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { until } from '../support/until.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('rate, for waiting requests');
const hour = 3_600_000;
const five = slidingWindow({ permits: 5, interval: hour });

/** One limiter for each limit, all of one name, each with its own connection. */
function limiters({ connect, afterwards }: OnRedis, ...limits: Limit[]): RateLimiter[] {
  return limits.map((limit) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis: connect() });
    afterwards(() => limiter.close());
    return limiter;
  });
}

const raised: [string, Limit][] = [
  ['a sliding window', slidingWindow({ permits: 1000, interval: 1000 })],
  ['a fixed window', fixedWindow({ permits: 1000, interval: 1000 })],
  ['a token bucket', tokenBucket({ permits: 1000, interval: 1000 })],
];

for (const [kind, limit] of raised)
  test(`a raised rate reaches reservations an hour ahead, without a burst of calls: ${kind}`, async (context) => {
    const [a, b] = limiters(context, five, five);
    await a.acquire(5);
    const order: number[] = [];
    const waiting = Array.from({ length: 60 }, (_, i) => b.acquire().then(() => order.push(i)));
    await until('one is reserved', async () => b.stats().reserved > 0);
    const { calls } = b.stats();
    const start = performance.now();
    await a.setRate(limit);
    await Promise.all(waiting);
    const took = performance.now() - start;
    // Two seconds until it calls again, and the delay of a busy machine.
    assert.ok(took < 6_000, `${took} ms`);
    assert.equal(
      order,
      order.map((_, i) => i),
    );
    const made = b.stats().calls - calls;
    assert.ok(made <= 60, `${made} calls`);
  });

const kinds: [string, (permits: number, interval: number) => Limit][] = [
  ['sliding window', (permits, interval) => slidingWindow({ permits, interval })],
  ['fixed window', (permits, interval) => fixedWindow({ permits, interval })],
  ['aligned window', (permits, interval) => fixedWindow({ permits, interval, align: 'epoch' })],
  ['token bucket', (permits, interval) => tokenBucket({ permits, interval })],
  ['leaky bucket', (permits, interval) => tokenBucket({ permits, interval, burst: 3 })],
];

test('every kind can replace every other while many requests wait: none is lost, and all keep their order', async (context) => {
  const pairs = kinds.flatMap(([, from]) => kinds.map(([, to]) => [from, to] as const));
  const [a, b] = limiters(context, five, five);
  const orders: number[][] = [[], []];
  const count = 250;
  const waiting = [a, b].flatMap((limiter, k) =>
    Array.from({ length: count }, (_, i) => limiter.acquire(1 + (i % 3)).then(() => orders[k].push(i))),
  );
  for (const [from, to] of pairs) {
    // Slow, so that there are always reservations.
    await a.setRate(from(3, 700));
    await sleep(15);
    await b.setRate(to(5, 900));
    await sleep(15);
  }
  assert.ok(a.stats().queued + b.stats().queued > 0, 'they still wait');
  await a.setRate(tokenBucket({ permits: 5000, interval: 1000 }));
  await Promise.all(waiting);
  const all = Array.from({ length: count }, (_, i) => i);
  assert.equal(orders, [all, all]);
  const { queued, reserved } = b.stats();
  assert.equal([queued, reserved], [0, 0]);
});

test.run();
