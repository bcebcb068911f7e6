// Scenarios of Redisson's own behaviour, numbered, for our limiter and for the model that other tests compare it with. Times
// are scaled down where only the ratio matters. 3 and 12 are in test/slow.
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { RateType } from '../../src/index.ts';
import { watchGrants } from '../redisson/grants.ts';
import { type Client, redissonSuite, takeOneByOne } from '../redisson/redissonSuite.ts';
import { rejection } from '../support/badInput.ts';
import { randomOf } from '../support/seed.mjs';

const { OVERALL, PER_CLIENT } = RateType;
const minutes = 60_000;

for (const who of ['ours', 'jvm'] as const) {
  const test = redissonSuite(`redisson, ${who}`);

  test('1. keepAlive: an idle limiter expires, and each use renews it', async (context) => {
    const limiter: Client = context[who]();
    assert.ok(await limiter.trySetRate(OVERALL, 1, 500, { keepAlive: 500 }));
    await sleep(550);
    assert.not(await limiter.isExists());
    assert.ok(await limiter.trySetRate(OVERALL, 10, 1_000, { keepAlive: 1_000 }));
    await sleep(500);
    assert.ok(await limiter.tryAcquire());
    assert.ok((await limiter.remainTimeToLive()) > 750);
  });

  test('2. expire: later grants expire with the limiter', async (context) => {
    const limiter: Client = context[who]();
    await limiter.trySetRate(OVERALL, 5, 250);
    assert.ok(await limiter.expire(500));
    await limiter.acquire();
    await sleep(600);
    assert.equal(await context.redis.keys('*'), []);
  });

  test('4. expire: earlier grants expire with the limiter', async (context) => {
    const limiter: Client = context[who]();
    await limiter.trySetRate(OVERALL, 2, 1_000);
    assert.ok(await limiter.tryAcquire());
    assert.ok(await limiter.expire(200));
    await sleep(220);
    assert.equal(await context.redis.keys('*'), []);
  });

  test('6. config: rate, interval and type', async (context) => {
    const limiter: Client = context[who]();
    assert.ok(await limiter.trySetRate(OVERALL, 1, 5_000));
    const { rate, interval, type } = await limiter.getConfig();
    assert.equal({ rate, interval, type }, { rate: 1, interval: 5_000, type: OVERALL });
  });

  test('7. avail: 10; acquire 1; after the interval: 10', async (context) => {
    const limiter: Client = context[who]();
    await limiter.trySetRate(OVERALL, 10, 500);
    assert.is(await limiter.availablePermits(), 10);
    await limiter.acquire(1);
    await sleep(600);
    assert.is(await limiter.availablePermits(), 10);
  });

  test('8. setRate after trySetRate: the config is the later one', async (context) => {
    const limiter: Client = context[who]();
    assert.ok(await limiter.trySetRate(OVERALL, 1, 5_000));
    await limiter.setRate(OVERALL, 2, 5_000);
    const { rate, interval, type } = await limiter.getConfig();
    assert.equal({ rate, interval, type }, { rate: 2, interval: 5_000, type: OVERALL });
  });

  test('9. PER_CLIENT: more than the rate throws, and charges nothing', async (context) => {
    const limiter: Client = context[who]();
    await limiter.trySetRate(PER_CLIENT, 1, 1_000);
    await rejection(limiter.tryAcquire(20));
    assert.ok(await limiter.tryAcquire());
  });

  test('11. tryAcquire with a timeout: true at once, false at the timeout', async (context) => {
    const limiter: Client = context[who]();
    const start = performance.now();
    assert.ok(await limiter.trySetRate(OVERALL, 1, 5_000));
    assert.ok(await limiter.tryAcquire(1, 1_000));
    const asked = performance.now();
    assert.not(await limiter.tryAcquire(1, 1_000));
    const waited = performance.now() - asked;
    assert.ok(waited >= 998, `false after ${waited} ms`);
    assert.not(await limiter.tryAcquire());
    const took = performance.now() - start;
    assert.ok(took < 2_000, `${took} ms`);
  });

  test('13. trySetRate: only the first counts; three windows of 10 granted and 10 refused', async (context) => {
    const limiter: Client = context[who]();
    assert.ok(await limiter.trySetRate(OVERALL, 10, 500));
    assert.not(await limiter.trySetRate(OVERALL, 20, 500));
    for (let window = 0; window < 3; window++) {
      assert.is(await takeOneByOne(limiter, 10), 10);
      assert.is(await takeOneByOne(limiter, 10), 0);
      await sleep(525);
    }
  });

  test('14. delete: false, then true, and no key is left', async (context) => {
    const limiter: Client = context[who]();
    assert.not(await limiter.delete());
    await limiter.trySetRate(OVERALL, 5, 5 * minutes);
    assert.is(await context.redis.dbsize(), 1);
    assert.ok(await limiter.tryAcquire());
    assert.ok(await limiter.delete());
    assert.is(await context.redis.dbsize(), 0);
  });

  test('16. eight callers at random moments: each tenth grant comes an interval after the tenth before it', async (context) => {
    const limiter: Client = context[who]();
    assert.ok(await limiter.trySetRate(OVERALL, 10, 100));
    const { grants, stop } = await watchGrants(context.redis);
    const random = randomOf(who);
    let granted = 0;
    const caller = async () => {
      while (granted < 200) {
        if (await limiter.tryAcquire()) granted++;
        // The pauses make callers request permits around the moment when earlier ones expire.
        await sleep(Math.floor(random() * 10));
      }
    };
    await Promise.all(Array.from({ length: 8 }, caller));
    await stop();
    // By the stored moments: the server's clock for our limiter, the client's own clock for a JVM client.
    const tenths = grants.map(({ at }) => at).filter((_, i) => i % 10 === 0);
    assert.ok(tenths.length >= 19, `${grants.length} grants were seen`);
    const gaps = tenths.slice(1).map((t, i) => t - tenths[i]);
    const shortest = Math.min(...gaps);
    assert.ok(shortest > 94, `${shortest} ms`);
  });

  test('17. setRate: a new rate starts a new state, for PER_CLIENT and OVERALL', async (context) => {
    const limiter: Client = context[who]();
    for (const type of [PER_CLIENT, OVERALL])
      for (const rate of [10, 20]) {
        await limiter.setRate(type, rate, 1_000);
        assert.is((await limiter.getConfig()).rate, rate);
        await limiter.acquire(1);
        assert.is(await limiter.availablePermits(), rate - 1);
      }
  });

  test('18. keepState on a new limiter: its grants expire', async (context) => {
    const limiter: Client = context[who]();
    await limiter.setRate(OVERALL, 10, 500, { keepState: true });
    await limiter.acquire(3);
    assert.is(await limiter.availablePermits(), 7);
    await sleep(550);
    await limiter.acquire(3);
    assert.is(await limiter.availablePermits(), 7);
  });

  test('20. setRate without keepState: earlier grants are forgotten', async (context) => {
    const limiter: Client = context[who]();
    await limiter.setRate(OVERALL, 10, 5_000, { keepState: true });
    await limiter.acquire(3);
    assert.is(await limiter.availablePermits(), 7);
    await limiter.setRate(OVERALL, 20, 5_000);
    assert.is(await limiter.availablePermits(), 20);
  });

  test('21. updateRate on a missing limiter: false, and it stays missing', async (context) => {
    const limiter: Client = context[who]();
    for (const type of [OVERALL, PER_CLIENT]) {
      assert.not(await limiter.updateRate(type, 10, 5_000, { keepState: true }));
      assert.not(await limiter.isExists());
    }
  });

  test('22. updateRate keeps the state: 10, 8 after 2, no 10 more, but 8', async (context) => {
    const limiter: Client = context[who]();
    await limiter.setRate(OVERALL, 10, 5_000, { keepState: true });
    assert.ok(await limiter.updateRate(OVERALL, 10, 5_000, { keepState: true }));
    assert.is(await limiter.availablePermits(), 10);
    await limiter.acquire(2);
    assert.is(await limiter.availablePermits(), 8);
    assert.not(await limiter.tryAcquire(10));
    assert.ok(await limiter.tryAcquire(8));
  });

  test('26. updateRate after all grants have expired: 10', async (context) => {
    const limiter: Client = context[who]();
    await limiter.setRate(OVERALL, 10, 500, { keepState: true });
    await limiter.acquire(8);
    assert.is(await limiter.availablePermits(), 2);
    await sleep(1_000);
    assert.ok(await limiter.updateRate(OVERALL, 10, 500, { keepState: true }));
    assert.is(await limiter.availablePermits(), 10);
  });

  test('28. a keepAlive below the interval throws', async (context) => {
    const limiter: Client = context[who]();
    for (const method of ['trySetRate', 'setRate', 'updateRate'] as const) {
      const set = async () => limiter[method](OVERALL, 10, 5_000, { keepAlive: 1_000 });
      assert.instance(await rejection(set()), RangeError);
    }
    assert.not(await limiter.isExists());
  });

  // Further scenarios, without a number.

  test('a grant late in an interval still counts in the next', async (context) => {
    const limiter: Client = context[who]();
    await limiter.trySetRate(OVERALL, 2, 1_000);
    assert.ok(await limiter.tryAcquire());
    await sleep(600);
    assert.ok(await limiter.tryAcquire());
    await sleep(450);
    assert.ok(await limiter.tryAcquire());
    assert.not(await limiter.tryAcquire());
  });

  const changes: [string, number, number, [before: number, after: number]][] = [
    ['higher', 20, 4, [6, 16]],
    ['lower, above what was acquired', 5, 3, [7, 2]],
    ['lower, below what was acquired', 5, 8, [2, 0]],
  ];
  for (const [what, rate, taken, available] of changes)
    test(`updateRate with keepState to a ${what}: earlier grants count against the new rate`, async (context) => {
      const limiter: Client = context[who]();
      for (const type of [OVERALL, PER_CLIENT]) {
        await limiter.setRate(type, 10, 5_000);
        await limiter.acquire(taken);
        assert.is(await limiter.availablePermits(), available[0]);
        assert.ok(await limiter.updateRate(type, rate, 10_000, { keepState: true }));
        assert.is(await limiter.availablePermits(), available[1]);
        assert.not(await limiter.tryAcquire(Math.min(rate, available[1] + 1)));
        if (available[1] > 0) assert.ok(await limiter.tryAcquire(available[1]));
      }
    });

  test('updateRate with keepState to a shorter interval: older grants no longer count', async (context) => {
    const limiter: Client = context[who]();
    await limiter.setRate(OVERALL, 10, 5_000);
    await limiter.acquire(3);
    await sleep(220);
    assert.ok(await limiter.updateRate(OVERALL, 10, 200, { keepState: true }));
    assert.is(await limiter.availablePermits(), 10);
  });

  test('a change of type forgets earlier grants', async (context) => {
    const limiter: Client = context[who]();
    await limiter.setRate(OVERALL, 10, 5_000);
    await limiter.acquire(4);
    assert.ok(await limiter.updateRate(PER_CLIENT, 10, 5_000, { keepState: true }));
    assert.is(await limiter.availablePermits(), 10);
    assert.ok(await limiter.updateRate(OVERALL, 10, 5_000, { keepState: true }));
    assert.is(await limiter.availablePermits(), 10);
  });

  test('release returns permits, up to the rate', async (context) => {
    const limiter: Client = context[who]();
    for (const type of [PER_CLIENT, OVERALL]) {
      await limiter.setRate(type, 10, 5_000);
      await limiter.acquire(3);
      await limiter.release(3);
      assert.is(await limiter.availablePermits(), 10);
      await limiter.release(10);
      assert.is(await limiter.availablePermits(), 10);
    }
  });

  test.run();
}
