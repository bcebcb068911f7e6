import * as assert from 'uvu/assert';
import { type Limit, PermitsExceedLimitError, RateLimiter, slidingWindow } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { type OnRedis, redisSuite } from './redisSuite.ts';

const test = redisSuite('rate');
const hour = 3_600_000;
const two = slidingWindow({ permits: 2, interval: hour });
const five = slidingWindow({ permits: 5, interval: hour });
const ten = slidingWindow({ permits: 10, interval: hour });

/** One limiter for each limit, all of one name, each with its own connection. */
function limiters({ connect, afterwards }: OnRedis, ...limits: Limit[]): RateLimiter[] {
  return limits.map((limit) => {
    const limiter = new RateLimiter({ name: 'api', limit, redis: connect() });
    afterwards(() => limiter.close());
    return limiter;
  });
}

test('a stored rate overrides the own limit of another client, from its next call on', async (context) => {
  const [a, b, small] = limiters(context, five, five, two);
  assert.ok(await b.tryAcquire(2));
  assert.is(await small.availablePermits(), 0);
  await a.setRate(ten);
  assert.is(await b.availablePermits(), 8);
  assert.equal(await b.getRate(), { limit: ten, stored: true });
  // Its own limit is 2, and was in force a moment ago.
  assert.ok(await small.tryAcquire(6));
  assert.is((await small.decide()).limit, 10);
  assert.is(await a.trySetRate(two), false);
  assert.is(await b.availablePermits(), 1);
});

test('a client does not refuse requests by its own earlier limit', async (context) => {
  const [a, b] = limiters(context, five, five);
  assert.ok(await b.tryAcquire());
  await a.setRate(ten);
  assert.ok(await b.tryAcquire(9));
  await a.delete();
  const error = (await rejection(b.acquire(9))) as PermitsExceedLimitError;
  assert.instance(error, PermitsExceedLimitError);
  assert.is(error.limit, 5);
});

test('a decision about more permits than the limit is an error, as for other requests', async (context) => {
  const [limiter] = limiters(context, five);
  const error = (await rejection(limiter.decide(6))) as PermitsExceedLimitError;
  assert.instance(error, PermitsExceedLimitError);
  assert.equal([error.permits, error.limit], [6, 5]);
  assert.is(await limiter.availablePermits(), 5);
});

test('a client created later is not refused for as long as its own limit would require', async (context) => {
  const [a, b] = limiters(context, ten, two);
  await a.setRate(ten);
  const permits = await Promise.all([
    b.acquire(),
    b.acquire(),
    b.acquire(),
    b.acquire(4, { timeout: 30_000 }),
  ]);
  assert.is(permits.length, 4);
});

test('a lower rate is in force at once for the other client, and counts earlier grants', async (context) => {
  const [a, b] = limiters(context, ten, ten);
  assert.ok(await a.tryAcquire(3));
  await b.setRate(five);
  assert.is(await a.availablePermits(), 2);
  assert.not(await a.tryAcquire(3));
  await b.setRate(two);
  assert.not(await a.tryAcquire());
  assert.instance(await rejection(a.tryAcquire(3)), PermitsExceedLimitError);
  await b.setRate(two, { keepState: false });
  assert.is(await a.availablePermits(), 2);
});

test('a stored rate and a pause survive a flush of the scripts', async (context) => {
  const [a, b] = limiters(context, five, five);
  await a.setRate(ten);
  await a.pauseFor(hour);
  await context.server.command('SCRIPT', 'FLUSH');
  assert.equal(await b.getRate(), { limit: ten, stored: true });
  await context.server.command('SCRIPT', 'FLUSH');
  assert.not((await b.decide()).granted);
  await context.server.command('SCRIPT', 'FLUSH');
  await b.reset();
  await context.server.command('SCRIPT', 'FLUSH');
  assert.ok(await a.tryAcquire(10));
  await context.server.command('SCRIPT', 'FLUSH');
  await b.delete();
  assert.is(await a.availablePermits(), 5);
});

test('with the scope client, each client has the stored rate for itself', async ({ connect, afterwards }) => {
  const clients = ['a', 'b'].map((clientId) => {
    const limiter = new RateLimiter({ name: 'api', limit: two, redis: connect(), scope: 'client', clientId });
    afterwards(() => limiter.close());
    return limiter;
  });
  const [a, b] = clients;
  await a.acquire(2);
  await b.setRate(ten);
  assert.equal([await a.availablePermits(), await b.availablePermits()], [8, 10]);
  assert.ok(await b.tryAcquire(10));
  assert.is(await a.availablePermits(), 8);
  await a.pauseFor(hour);
  assert.is(await b.availablePermits(), 0);
});

test.run();
