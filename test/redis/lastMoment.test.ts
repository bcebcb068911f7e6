// Requests of a client stay behind its last reservation, whatever has changed since.
import * as assert from 'uvu/assert';
import type { LimitSpec } from '../properties/specs.ts';
import { inEachTwin } from './eachTwin.ts';
import { moments } from './timedFleet.ts';

const window: LimitSpec = { kind: 'slidingWindow', permits: 1, interval: 1000, resolution: 1 };
const fast: LimitSpec = { kind: 'tokenBucket', permits: 10, interval: 100, burst: 10 };

inEachTwin('the last reservation', (test, { fleet }) => {
  test('it keeps its place when the limit becomes one of another kind', async () => {
    const clients = await fleet(window);
    const { epoch } = await clients.reserve(0, 1);
    assert.equal(moments(await clients.reserve(0, 1)), [1000]);
    await clients.setRate(100, 2, fast);
    const last = { moment: 1000, epoch };
    assert.equal(moments(await clients.reserve(200, 1, { held: 1000, last, epoch })), [1000]);
  });

  test('it keeps its place, however many changes follow', async () => {
    const clients = await fleet(window);
    await clients.reserve(0, 1);
    // What was reserved before is void from 2000 on.
    await clients.setRate(0, 2, { ...window, interval: 2500 });
    const reply = await clients.reserve(600, 1);
    assert.equal(moments(reply), [2500]);
    const asked = { held: 2500, last: { moment: 2500, epoch: reply.epoch } };
    let { epoch } = reply;
    for (let change = 1; change <= 12; change++) {
      const at = 600 + 50 * change;
      await clients.setRate(at, 2, { ...fast, permits: 10 + change });
      const heard = await clients.reserve(at, 1, { ...asked, count: 0, epoch });
      assert.ok(at + heard.voidAfter! > 2500, `void after ${heard.voidAfter}`);
      epoch = heard.epoch;
    }
    assert.equal(moments(await clients.reserve(1300, 1, { ...asked, epoch })), [2500]);
  });

  test('after a step of the clock, it delays nothing for longer than its reservations', async () => {
    const clients = await fleet(fast);
    const { epoch } = await clients.reserve(10_000, 1, { permits: 10 });
    assert.equal(moments(await clients.reserve(10_000, 1, { permits: 10 })), [10_100]);
    const last = { moment: 10_100, epoch };
    assert.equal(moments(await clients.reserve(5000, 1, { held: 100, last, epoch })), [5110]);
  });
});
