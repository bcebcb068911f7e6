import sinon from 'sinon';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { memoryStore, RateLimiter, slidingWindow, tokenBucket } from '../../src/index.ts';
import { momentOf } from '../../src/stores/segments.ts';
import type { Grant } from '../../src/stores/store.ts';
import { openLedger } from '../support/lines.ts';

const test = suite('permits that are available at once');

let clock: sinon.SinonFakeTimers;
test.before.each(() => {
  clock = sinon.useFakeTimers({ now: 1_700_000_000_000 });
});
test.after.each(() => sinon.restore());

const limit = slidingWindow({ permits: 2, interval: 1_000 });

test("permits granted before another client's setRate without keepState no longer count", async () => {
  const shared = { name: 'n', limit, scope: 'client' as const, store: memoryStore() };
  const [one, other] = ['one', 'other'].map((clientId) => new RateLimiter({ ...shared, clientId }));
  await one.acquire();
  clock.tick(1);
  await other.setRate(limit, { keepState: false });
  const granted = [await one.tryAcquire(), await one.tryAcquire(), await one.tryAcquire()];
  assert.equal(granted, [true, true, false]);
});

test('nothing is taken under a stored rate of other names', async () => {
  const shared = { name: 'n', scope: 'client' as const, store: memoryStore() };
  const one = new RateLimiter({ ...shared, limit });
  const other = new RateLimiter({ ...shared, limit: { other: limit } });
  await one.acquire();
  await other.setRate({ other: limit });
  await one.acquire().then(
    () => assert.unreachable(),
    ({ code }) => assert.is(code, 'ERR_SLUICE_STORE'),
  );
});

test('a permit has its moment, its source and no wait, and can be refunded', async () => {
  const limiter = new RateLimiter({ name: 'n', limit });
  await limiter.acquire();
  const permit = await limiter.acquire();
  const { permits, waited, grantedAt, source } = permit;
  assert.equal(
    { permits, waited, grantedAt, source },
    { permits: 1, waited: 0, grantedAt: 1_700_000_000_000, source: 'memory' },
  );
  assert.is(await limiter.availablePermits(), 0);
  await permit.refund();
  assert.is(await limiter.availablePermits(), 1);
});

test('stats() counts these grants too', async () => {
  const limiter = new RateLimiter({ name: 'n', limit: tokenBucket({ permits: 10, interval: 1_000 }) });
  for (let i = 0; i < 3; i++) await limiter.acquire();
  const { calls, granted } = limiter.stats();
  assert.equal({ calls, granted }, { calls: 3, granted: 3 });
});

test('events$ reports each of these requests', async () => {
  const limiter = new RateLimiter({ name: 'n', limit });
  const types: string[] = [];
  await limiter.acquire();
  limiter.events$.subscribe(({ type }) => types.push(type));
  await limiter.acquire();
  assert.equal(types, ['queued', 'granted']);
});

test('invalid arguments reject, and do not throw', async () => {
  const limiter = new RateLimiter({ name: 'n', limit });
  const calls = [
    limiter.acquire(0),
    limiter.acquire(3),
    limiter.acquire(1, { timeout: -1 }),
    limiter.acquire(1, { signal: AbortSignal.abort(new Error('gone')) }),
    limiter.decide(0),
    limiter.decide(3),
  ];
  const ends = await Promise.allSettled(calls);
  const messages = ends.map((end) => end.status === 'rejected' && end.reason.message);
  const tooMuch =
    'limiter "n": 3 permits are more than the limit can ever grant (at most 2 permits at a time); use fewer permits, or raise the limit';
  assert.equal(messages, [
    'permits: expected a positive safe integer, got 0',
    tooMuch,
    'timeout: expected milliseconds, 0 or more, got -1',
    'gone',
    'permits: expected a positive safe integer, got 0',
    tooMuch,
  ]);
});

test('the permits of a cancelled reservation between two others are free once its moment has passed', () => {
  const store = memoryStore();
  const window = slidingWindow({ permits: 10, interval: 1_000, resolution: 1 });
  const ledgers = ['one', 'two'].map((client) => openLedger(store, window, client));
  const reserve = (client: number, count: number): Grant => {
    let grant: Grant | undefined;
    const request = { runs: [{ count, cost: [1], maxWait: Infinity }], horizon: 0, held: 0, epoch: 0 };
    ledgers[client].reserve(request, (_, reply) => {
      const { now, epoch, segments } = reply!;
      grant = { cost: [1], moment: momentOf({ now }, segments[0].delay), epoch, source: 'memory' };
    });
    return grant!;
  };
  reserve(0, 10);
  const [, , , between] = [0, 1, 0, 1, 0].map((client) => reserve(client, 1));
  clock.tick(1_100);
  ledgers[1].refund([{ ...between, count: 1 }], 1, () => undefined);
  clock.tick(400);
  // Four are taken.
  let free: number[] | undefined;
  ledgers[0].peek((_, available) => {
    free = available;
  });
  assert.equal(free, [6]);
});

test.run();
