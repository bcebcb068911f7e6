import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fixedWindow, type Limit, slidingWindow, tokenBucket } from '../../src/limits/limit.ts';
import { timed } from '../support/fakeTime.ts';
import { ask, sharing } from './sharing.ts';

const hour = 3_600_000;
const five = slidingWindow({ permits: 5, interval: hour });

/** Two clients of one name, each of which has a limit for itself. */
function clients(limit: Limit = five) {
  const [a, b] = ['a', 'b'].map((clientId) => ({ limit, scope: 'client' as const, clientId }));
  return sharing(a, b);
}

timed("with scope 'client' each client has the whole stored rate, and forgets its own grants", async () => {
  const [a, b] = clients();
  await Promise.all([a.acquire(5), b.acquire(5)]);
  await a.setRate(slidingWindow({ permits: 8, interval: hour }));
  assert.equal([await a.availablePermits(), await b.availablePermits()], [3, 3]);
  await a.reset();
  assert.equal([await a.availablePermits(), await b.availablePermits()], [8, 3]);
  await b.delete();
  assert.equal([await a.availablePermits(), await b.availablePermits()], [5, 5]);
});

timed('a rate that forgets what was granted does so for each client', async () => {
  const [a, b] = clients();
  await Promise.all([a.acquire(5), b.acquire(5)]);
  await a.setRate(slidingWindow({ permits: 8, interval: hour }), { keepState: false });
  assert.equal([await a.availablePermits(), await b.availablePermits()], [8, 8]);
});

timed('one pause holds all clients, and each of them can lift it', async () => {
  const [a, b] = clients();
  await b.pauseFor(hour);
  assert.equal([await a.availablePermits(), await b.availablePermits()], [0, 0]);
  await a.reset();
  assert.equal([await a.availablePermits(), await b.availablePermits()], [5, 5]);
});

timed(
  'waiting requests of another client continue within two seconds after a pause was lifted',
  async (clock) => {
    const [a, b] = clients();
    await b.pauseFor(hour);
    const [waits] = ask(a, 1);
    await b.reset();
    await clock.tickAsync(2100);
    assert.ok(waits.value);
  },
);

timed('a raised rate reaches waiting requests of another client within two seconds', async (clock) => {
  const [a, b] = clients();
  await b.acquire(5);
  const [waits] = ask(b, 1);
  await a.setRate(slidingWindow({ permits: 8, interval: 1000 }));
  await clock.tickAsync(2100);
  assert.ok(waits.value);
});

for (const ofOwn of [fixedWindow, slidingWindow, tokenBucket])
  for (const ofStored of [fixedWindow, slidingWindow, tokenBucket])
    timed(
      `waiting requests continue within two seconds after another client's delete(): from ${ofStored.name} to ${ofOwn.name}`,
      async (clock) => {
        const [a, b] = clients(ofOwn({ permits: 10, interval: 1000 }));
        await a.setRate(ofStored({ permits: 1, interval: hour }));
        await b.acquire(1);
        const waits = ask(b, 3);
        await clock.tickAsync(2300);
        await a.delete();
        await clock.tickAsync(2600);
        assert.ok(waits.every(({ value }) => value));
        assert.is(b.stats().reserved, 0);
      },
    );

for (const away of [0, 6000, 20_000])
  timed(`a client that was away for ${away} ms learns that a pause was lifted meanwhile`, async (clock) => {
    const [a, b] = clients(tokenBucket({ permits: 5, interval: 1000 }));
    await a.pauseFor(30_000);
    const waits = ask(b, 3);
    await clock.tickAsync(1000);
    await a.reset();
    // As after a blocked event loop, each timer that is due meanwhile runs once.
    clock.jump(away);
    await clock.tickAsync(2100);
    assert.ok(waits.every(({ value }) => value));
  });

timed("a pause that is lifted during another client's call grants nothing twice", async (clock) => {
  const [a, b] = clients();
  await a.pauseFor(1500);
  const waits = ask(b, 5);
  await clock.tickAsync(100);
  await a.reset();
  await b.availablePermits();
  waits.push(...ask(b, 4));
  await clock.tickAsync(10_000);
  assert.is(waits.filter(({ value }) => value).length, 5);
});

test.run();
