// Reservations that wait for a slow limit of a record hold up no requests that need another one, whether these may wait or not.
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import { cases } from '../support/cases.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

type SpecOf = (permits: number, interval: number) => LimitSpec;
const kinds: SpecOf[] = [
  (permits, interval) => ({ kind: 'slidingWindow', permits, interval, resolution: 1 }),
  (permits, interval) => ({ kind: 'fixedWindow', permits, interval, align: 'first' }),
  (permits, interval) => ({ kind: 'fixedWindow', permits, interval, align: 'epoch' }),
  (permits, interval) => ({ kind: 'tokenBucket', permits, interval, burst: permits }),
];
const horizon = 20;

inEachTwin('aside', (test, { fleet }) => {
  for (const [slowOf, fastOf, waiting] of cases(kinds, kinds, [1, 2])) {
    const [slow, fast] = [slowOf(1, 8000), fastOf(5, 1000)];
    const words = `${waiting} waiting for a ${slow.kind}, of a ${fast.kind}${fast.kind === 'fixedWindow' ? ` from ${fast.align}` : ''}`;
    const waitingFleet = async () => {
      const clients = await fleet([slow, fast]);
      await clients.reserve(0, 0, { cost: [1, 1], horizon });
      for (let client = 1; client <= waiting; client++) {
        const [moment] = moments(await clients.reserve(0, client, { cost: [1, 1], horizon }));
        assert.ok(moment >= 4000, `${moment}`);
      }
      return clients;
    };

    // Several clients that wait share windows at a pace.
    const free = waiting === 1 ? [100, 100, 100, 100] : [500, 700, 900];
    test(`decisions are granted what is free, beside ${words}`, async () => {
      const clients = await waitingFleet();
      for (const at of free) assert.ok(await clients.decide(at, 9, [0, 1]), `at ${at}`);
      if (waiting === 1) assert.not(await clients.decide(100, 9, [0, 1]));
      assert.not(await clients.decide(900, 9, [1, 0]));
    });

    test(`so are requests that may not wait, beside ${words}`, async () => {
      const clients = await waitingFleet();
      for (const at of free)
        assert.equal(moments(await clients.reserve(at, 9, { cost: [0, 1], maxWait: 0, horizon })), [at]);
    });
  }

  test('no decision in the last fraction of a millisecond of a window on the clock counts in the next one', async () => {
    const clients = await fleet([kinds[0](1, 8000), kinds[2](5, 1000)]);
    await clients.reserve(0, 0, { cost: [1, 1], horizon });
    await clients.reserve(0, 1, { cost: [1, 1], horizon });
    assert.ok(await clients.decide(998.5, 9, [0, 1]));
    for (const at of [999.001, 999.999]) assert.not(await clients.decide(at, 9, [0, 1]), `at ${at}`);
    assert.ok(await clients.decide(1000, 9, [0, 5]));
    assert.not(await clients.decide(1000, 9, [0, 1]));
  });

  // One by one, a call of 50,000 would keep the server busy for a third of a second.
  for (const [i, fastOf] of kinds.entries())
    test(`many requests of a ${fastOf(1, 1).kind} (${i}) are granted together beside one that waits for a slow limit`, async () => {
      const clients = await fleet([kinds[0](1, 8000), fastOf(700, 1000)]);
      for (const client of [0, 1]) await clients.reserve(0, client, { cost: [1, 1], horizon });
      const reply = await clients.reserve(0, 9, { cost: [0, 1], count: 1000, maxWait: 0, horizon });
      assert.equal(moments(reply), Array(699).fill(0));
      assert.ok(reply.segments.length <= 10, `${reply.segments.length} segments`);
      const later = await clients.reserve(500, 9, { cost: [0, 3], count: 1000, maxWait: 0, horizon });
      assert.is(moments(later).length, fastOf(1, 1).kind === 'tokenBucket' ? Math.floor(350 / 3) : 0);
    });

  for (const [slowOf, fastOf] of cases(kinds, kinds.slice(0, 2)))
    test(`decisions do not overtake clients that wait for a ${fastOf(1, 1).kind} beside a ${slowOf(1, 1).kind}`, async () => {
      const clients = await fleet([slowOf(1, 8000), fastOf(5, 1000)]);
      await clients.reserve(0, 0, { cost: [1, 5], horizon });
      await clients.reserve(0, 1, { cost: [1, 1], horizon });
      for (const client of [2, 3]) {
        const reply = await clients.reserve(10, client, { cost: [0, 1], count: 3, horizon });
        assert.ok(moments(reply)[0] >= 1000);
      }
      for (const at of [20, 999, 1000, 1100]) assert.not(await clients.decide(at, 9, [0, 1]), `at ${at}`);
    });
});
