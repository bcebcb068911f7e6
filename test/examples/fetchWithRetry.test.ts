import { getEventListeners } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { filter, firstValueFrom } from 'rxjs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fetchWith, RetryableError } from '../../examples/fetch-with-retry.ts';
import { memoryStore, RateLimiter, slidingWindow } from '../../src/index.ts';
import { until } from '../support/until.ts';
import { withServer } from './httpServer.ts';

const limit = slidingWindow({ permits: 100, interval: 60_000 });
const limiterOf = (store = memoryStore()) => new RateLimiter({ name: 'api', limit, store });

/** A listener that responds with the statuses in turn, and then with 200; and the moments of its calls. */
function responding(...responses: [status: number, headers?: Record<string, string>][]) {
  const calls: number[] = [];
  const listener = (_: unknown, response: ServerResponse) => {
    const [status, headers = {}] = responses[calls.push(performance.now()) - 1] ?? [200];
    response.writeHead(status, headers).end(`${status}`);
  };
  return { calls, listener };
}

test('after a Retry-After, every process waits, and the call is repeated', async () => {
  const { calls, listener } = responding([429, { 'Retry-After': '1' }]);
  await withServer(listener, async (url) => {
    const store = memoryStore();
    const [first, second] = [limiterOf(store), limiterOf(store)];
    const paused = firstValueFrom(first.events$.pipe(filter(({ type }) => type === 'paused')));
    const repeated = fetchWith(first)(url);
    await paused;
    const other = fetchWith(second)(url);
    assert.equal([(await repeated).status, (await other).status], [200, 200]);
    assert.is(calls.length, 3);
    for (const call of calls.slice(1)) assert.ok(call - calls[0] >= 990, `${call - calls[0]} ms`);
  });
});

test('each attempt acquires a permit', async () => {
  const { calls, listener } = responding([503], [503]);
  await withServer(listener, async (url) => {
    const limiter = limiterOf();
    assert.is(await (await fetchWith(limiter, { backoff: 1 })(url)).text(), '200');
    assert.is(calls.length, 3);
    assert.is(await limiter.availablePermits(), 97);
  });
});

test('the last failure is the error, and any other status is a response', async () => {
  const { listener } = responding([429], [429, { 'Retry-After': '0' }], [404]);
  await withServer(listener, async (url) => {
    const call = fetchWith(limiterOf(), { retries: 1, backoff: 1 });
    const error = await call(url).catch((reason) => reason);
    assert.instance(error, RetryableError);
    assert.equal([error.status, error.retryAfter], [429, 0]);
    assert.is((await call(url)).status, 404);
  });
});

test('a Retry-After is in seconds or a date', () => {
  const pauseOf = (header: string) =>
    new RetryableError(new Response(null, { status: 429, headers: { 'Retry-After': header } })).retryAfter;
  assert.is(pauseOf('2'), 2_000);
  const inTen = pauseOf(new Date(Date.now() + 10_000).toUTCString())!;
  assert.ok(inTen > 8_000 && inTen <= 10_000, `${inTen}`);
  assert.is(pauseOf('Wed, 21 Oct 2015 07:28:00 GMT'), 0);
  assert.is(pauseOf('soon'), undefined);
});

test('maxPause bounds the effect of a wrong header', async () => {
  const { listener } = responding([429, { 'Retry-After': '3600' }]);
  await withServer(listener, async (url) => {
    const started = performance.now();
    await fetchWith(limiterOf(), { maxPause: 100 })(url);
    assert.ok(performance.now() - started < 10_000);
  });
});

test('a signal ends a call that waits for its permit, without an attempt', async () => {
  const { calls, listener } = responding();
  await withServer(listener, async (url) => {
    const limiter = limiterOf();
    await limiter.pauseFor(60_000);
    const started = performance.now();
    const user = new AbortController();
    const call = fetchWith(limiter)(url, { signal: user.signal }).catch((reason) => reason);
    user.abort('the user has left');
    assert.is(await call, 'the user has left');
    assert.ok(performance.now() - started < 30_000);
    assert.is(calls.length, 0);
  });
});

test('a signal ends the wait between two attempts, and leaves no listener', async () => {
  const { calls, listener } = responding([503]);
  await withServer(listener, async (url) => {
    const limiter = limiterOf();
    const user = new AbortController();
    const call = fetchWith(limiter, { backoff: 60_000 })(url, { signal: user.signal }).catch(
      (reason) => reason,
    );
    await until('the first call', async () => calls.length === 1);
    await setTimeout(200); // until the response is there
    const started = performance.now();
    user.abort('the user has left');
    assert.is(await call, 'the user has left');
    assert.ok(performance.now() - started < 30_000);
    assert.is(await limiter.availablePermits(), 99);
    assert.is(getEventListeners(user.signal, 'abort').length, 0);
  });
});

test.run();
