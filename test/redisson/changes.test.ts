// The rate changes while clients use the limiter: each call uses the stored rate.
import * as assert from 'uvu/assert';
import { PermitsExceedLimitError, RateType } from '../../src/index.ts';
import { rejection } from '../support/badInput.ts';
import { type OnRedisson, redissonSuite, takeOneByOne } from './redissonSuite.ts';
import { stateOf } from './state.ts';

const test = redissonSuite('changes');

const { OVERALL, PER_CLIENT } = RateType;
const minute = 60_000;

for (const who of ['jvm', 'ours'] as const) {
  test(`PER_CLIENT: earlier grants count against a rate set by another client (${who})`, async (context) => {
    const other = context[who]();
    const limiter = context.ours({ clientId: 'b' });
    await other.setRate(PER_CLIENT, 10, minute);
    await limiter.acquire(1);
    await other.setRate(PER_CLIENT, 5, minute);
    assert.is(await takeOneByOne(limiter, 10), 4);
    await other.setRate(PER_CLIENT, 20, minute);
    assert.is(await takeOneByOne(limiter, 20), 15);
    const { value, used } = await stateOf(context.redis, 'b');
    assert.equal({ value, used }, { value: 0, used: 20 });
  });

  test(`OVERALL: earlier grants that are kept count against a rate set by another client (${who})`, async (context) => {
    const other = context[who]();
    const limiter = context.ours();
    await other.setRate(OVERALL, 10, minute);
    await limiter.acquire(3);
    assert.ok(await other.updateRate(OVERALL, 5, minute, { keepState: true }));
    assert.is(await takeOneByOne(limiter, 10), 2);
    assert.ok(await other.updateRate(OVERALL, 20, minute, { keepState: true }));
    assert.is(await takeOneByOne(limiter, 20), 15);
    const { value, used } = await stateOf(context.redis);
    assert.equal({ value, used }, { value: 0, used: 20 });
  });
}

test('remembers no refusal, since another client may have raised the rate', async ({ jvm, ours }) => {
  const client = jvm();
  const limiter = ours();
  await client.setRate(OVERALL, 1, minute);
  await limiter.acquire();
  assert.not(await limiter.tryAcquire());
  await client.setRate(OVERALL, 2, minute);
  assert.ok(await limiter.tryAcquire());
});

test('a waiting request is granted long before its moment after the rate is raised', async ({
  jvm,
  ours,
}) => {
  const client = jvm();
  const limiter = ours();
  await client.setRate(OVERALL, 1, minute);
  await limiter.acquire();
  const waiting = limiter.acquire();
  // The other call is answered once the waiting request has its moment.
  await limiter.availablePermits();
  await client.setRate(OVERALL, 2, minute);
  assert.ok((await waiting).waited < minute / 2);
});

test('refuses a waiting request that exceeds a lowered rate', async ({ jvm, ours }) => {
  const client = jvm();
  const limiter = ours();
  await client.setRate(OVERALL, 10, minute);
  await limiter.acquire(10);
  const waiting = rejection(limiter.acquire(5));
  await limiter.availablePermits();
  await client.setRate(OVERALL, 3, minute);
  assert.instance(await waiting, PermitsExceedLimitError);
});

test('a release wakes the waiting requests of this process', async ({ ours }) => {
  const limiter = ours();
  await limiter.setRate(OVERALL, 1, minute);
  await limiter.acquire();
  const waiting = limiter.acquire();
  await limiter.availablePermits();
  await limiter.release(1);
  // Without the wake-up they would call again after two seconds.
  const { waited } = await waiting;
  assert.ok(waited < 1_500, `${waited} ms`);
});

const kept = { keepState: true };

/** Two clients with a limiter each, on one config; `b` has entries of so many permits. */
async function twoClients(
  ours: OnRedisson['ours'],
  rate: number,
  entries: number,
  permits: number,
): Promise<Record<'a' | 'b', ReturnType<OnRedisson['ours']>>> {
  const [a, b] = ['a', 'b'].map((clientId) => ours({ clientId }));
  await a.setRate(PER_CLIENT, rate, minute);
  await Promise.all(Array.from({ length: entries }, () => b.acquire(permits)));
  return { a, b };
}

// The rates must not be equal by chance: 41 and 10 are equal modulo 31.
for (const [rate, lower] of [
  [41, 10],
  [110, 100],
])
  test(`PER_CLIENT: with a config that expires, another client lowers the rate from ${rate} to ${lower}`, async ({
    ours,
  }) => {
    const { a, b } = await twoClients(ours, rate, 4, 2);
    await a.expire(10 * minute);
    await b.acquire();
    assert.ok(await a.updateRate(PER_CLIENT, lower, minute, kept));
    assert.not(await b.tryAcquire(lower - 8));
    assert.ok(await b.tryAcquire(lower - 9));
    assert.not(await b.tryAcquire());
  });

test('PER_CLIENT: a rate that changes and is restored differs from the one used for the count', async ({
  ours,
}) => {
  const { a, b } = await twoClients(ours, 9_000, 2_000, 4);
  await a.updateRate(PER_CLIENT, 8_000, minute, kept);
  assert.not(await b.tryAcquire());
  await a.updateRate(PER_CLIENT, 3_000, minute, kept);
  await b.updateRate(PER_CLIENT, 8_000, minute, kept);
  assert.not(await b.tryAcquire());
  await b.updateRate(PER_CLIENT, 12_000, minute, kept);
  await a.updateRate(PER_CLIENT, 8_000, minute, kept);
  assert.not(await b.tryAcquire());
});

test('PER_CLIENT: a lowered rate holds at once with a log that takes several calls to count', async ({
  ours,
}) => {
  const { a, b } = await twoClients(ours, 200_000, 20_000, 5);
  await a.updateRate(PER_CLIENT, 120_000, minute, kept);
  assert.not(await b.tryAcquire(20_001));
  assert.ok(await b.tryAcquire(20_000));
  assert.not(await b.tryAcquire());
});

test.run();
