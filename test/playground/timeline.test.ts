import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { limitOf } from '../../playground/model/config.ts';
import { configOf } from '../../playground/url.ts';
import { over } from './over.ts';
import { Playground, type Shown } from './page.ts';

let playground: Playground;
test.before(async () => {
  playground = await Playground.start();
});
test.after(() => playground.close());

const runs = [
  'kind=slidingWindow&permits=5&interval=1000&arrivals=poisson&rate=4&processes=3',
  'kind=slidingWindow&permits=3&interval=700&resolution=70&arrivals=bursts&rate=3&processes=8',
  'kind=slidingWindow&permits=20&interval=2000&arrivals=steady&rate=20&processes=1',
  'kind=fixedWindow&align=first&permits=4&interval=900&arrivals=bursts&rate=4&processes=4',
  'kind=fixedWindow&align=first&permits=7&interval=1000&arrivals=poisson&rate=3&processes=5',
  'kind=fixedWindow&align=epoch&permits=6&interval=500&arrivals=poisson&rate=6&processes=2',
  'kind=tokenBucket&permits=5&interval=1000&arrivals=bursts&rate=4&processes=3',
  'kind=tokenBucket&permits=4&interval=1500&burst=9&arrivals=poisson&rate=2&processes=6',
  'kind=leakyBucket&permits=8&interval=1000&arrivals=poisson&rate=3&processes=3',
  'kind=leakyBucket&permits=3&interval=2000&arrivals=steady&rate=1&processes=2',
];

test('no window of the timeline sees more than the limit, with every kind of limit, cancellations, refunds and pauses', async () => {
  const open = await playground.open(`#${runs[0]}`);
  for (const hash of runs) {
    await open.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await open.page.waitForFunction(
      `document.getElementById('code').textContent.includes('${configOf(hash).kind}')`,
    );
    const limit = limitOf(configOf(hash));
    // The timeline shows more than three intervals.
    const step = Math.max(900, 3 * limit.interval);
    const seen = new Map<number, Shown>();
    for (let i = 0; i < 5; i++) {
      await open.pass(step);
      if (i === 1)
        await open.page.evaluate(`for (let i = 0; i < 3; i++) document.getElementById('cancel').click()`);
      if (i === 2)
        await open.page.evaluate(`for (let i = 0; i < 2; i++) document.getElementById('refund').click()`);
      if (i === 3) await open.page.evaluate(`document.getElementById('pause').click()`);
      for (const marble of await open.marbles()) seen.set(marble.id, marble);
      for (const { count, most } of await open.windows())
        assert.ok(count <= most, `${hash}: ${count} of ${most}`);
    }
    const grants = [...seen.values()].flatMap(({ state, endedAt }) => (state === 'granted' ? endedAt! : []));
    assert.ok(grants.length > 2 * limit.permits, `${hash}: only ${grants.length} grants`);
    assert.is(over(limit, grants), undefined, hash);
  }
  assert.equal(playground.errors, []);
  await open.close();
});

test('the timeline holds the limit exactly where there are requests enough', async () => {
  const open = await playground.open(
    '#kind=slidingWindow&permits=5&interval=1000&arrivals=steady&rate=10&processes=2',
  );
  await open.pass(10_000);
  const windows = await open.windows();
  assert.equal(windows, [{ count: 5, most: 5 }]);
  assert.match(await open.text('#utilisation'), /^(9[5-9]|100) %$/);
  assert.ok(Number(await open.text('#fairness')) > 0.99);
  await open.close();
});

test.run();
