// How an excess of `settle` is charged. A comparison of the twins does not detect a fault in both.
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

const rate = { permits: 10, interval: 1000 };
const sliding: LimitSpec = { kind: 'slidingWindow', ...rate, resolution: 1 };
const fixed: LimitSpec = { kind: 'fixedWindow', ...rate, align: 'first' };
const bucket: LimitSpec = { kind: 'tokenBucket', ...rate, burst: 10 };

inEachTwin('debts', (test, { fleet }) => {
  test('a debt is charged at once from free permits, and up to a thousand bursts', async () => {
    const clients = await fleet(bucket);
    await clients.owe(0, 1, 4);
    assert.equal(await clients.peek(0), [6]);
    const others = await fleet(bucket);
    await others.owe(0, 1, 20_000);
    assert.equal(moments(await others.reserve(0, 1)), [999_100]);
  });

  test('a debt takes the free permits of a sliding window, then each permit as it leaves the window', async () => {
    const clients = await fleet(sliding);
    await clients.reserve(0, 1, { count: 4 });
    await clients.reserve(500, 1, { count: 4 });
    // 2 at 600, 4 at 1000 and 3 at 1500.
    await clients.owe(600, 1, 9);
    assert.equal(moments(await clients.reserve(600, 1, { count: 4 })), [1500, 1600, 1600, 2000]);
  });

  test('a debt takes the rest of a fixed window, and then of the next', async () => {
    const clients = await fleet(fixed);
    await clients.reserve(0, 1, { count: 6 });
    // 4 in the first window, and 8 in the second.
    await clients.owe(600, 1, 12);
    assert.equal(moments(await clients.reserve(600, 1, { count: 3 })), [1000, 1000, 2000]);
  });

  test('a debt of many windows is charged in parts that leave little of them unused', async () => {
    const clients = await fleet(sliding);
    for (let i = 0; i < 10; i++) await clients.reserve(100 * i, 1);
    // One permit at each tenth of a second from 1000 on.
    await clients.owe(950, 1, 45);
    assert.equal(moments(await clients.reserve(950, 1, { count: 2 })), [5500, 5600]);
  });

  test('a debt is charged in about a hundred parts, each an entry of the log', async () => {
    const clients = await fleet({ ...sliding, permits: 1000 });
    for (let i = 0; i < 500; i++) await clients.reserve(i, 1, { count: 2 });
    // Parts of 10 permits: 10 are free at 1004, ten more at 1009, and so on.
    await clients.owe(600, 1, 1000);
    const taken = moments(await clients.reserve(600, 1, { count: 11 }));
    assert.equal(taken, [...new Array(10).fill(2004), 2009]);
  });

  test('of debts of many clients, so many permits are charged that sums stay exact', async () => {
    const clients = await fleet({ ...sliding, permits: 2 ** 50, interval: 7 });
    for (let client = 1; client <= 10; client++) await clients.owe(0, client, 2 ** 53 - 1);
    // Four windows.
    assert.equal(moments(await clients.reserve(0, 1)), [28]);
    assert.equal(await clients.peek(28), [2 ** 50 - 1]);
  });
});
