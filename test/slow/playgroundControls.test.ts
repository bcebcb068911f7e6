import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Playground } from '../playground/page.ts';

const settings = suite('settings');
const actions = suite('actions');
let playground: Playground;

settings.before(async () => {
  playground = await Playground.start();
});

settings('each setting changes the code and the address, and shows where it applies', async () => {
  const open = await playground.open();
  const isShown = (name: string) => open.page.locator(`[name=${name}]`).isVisible();
  const steps: [name: string, value: string, code: string, shown: string | undefined][] = [
    ['kind', 'tokenBucket', 'tokenBucket({ permits: 5, interval: 1_000 })', 'burst'],
    ['burst', '9', 'tokenBucket({ permits: 5, interval: 1_000, burst: 9 })', 'burst'],
    ['kind', 'fixedWindow', 'fixedWindow({ permits: 5, interval: 1_000 })', 'align'],
    ['align', 'epoch', "fixedWindow({ permits: 5, interval: 1_000, align: 'epoch' })", 'align'],
    ['kind', 'leakyBucket', 'leakyBucket({ permits: 5, interval: 1_000 })', undefined],
    ['kind', 'slidingWindow', 'slidingWindow({ permits: 5, interval: 1_000 })', 'resolution'],
    ['resolution', '250', 'resolution: 250 })', 'resolution'],
    ['permits', '7', 'permits: 7,', 'resolution'],
    ['interval', '2500', 'interval: 2_500,', 'resolution'],
    ['arrivals', 'bursts', '3 at once, every 2 seconds', 'resolution'],
    ['arrivals', 'steady', 'One request every 625 ms', 'resolution'],
    ['rate', '4', 'One request every 250 ms', 'resolution'],
    ['processes', '5', 'range(0, 5)', 'resolution'],
    ['arrivals', 'hand', 'new Subject', 'resolution'],
  ];
  for (const [name, value, code, shown] of steps) {
    if (['kind', 'align', 'arrivals'].includes(name)) await open.select(name, value);
    else await open.fill(name, value);
    assert.ok((await open.code()).includes(code), `${name} ${value}: ${await open.code()}`);
    const { hash } = new URL(open.page.url());
    assert.is(new URLSearchParams(hash.slice(1)).get(name), value);
    for (const only of ['burst', 'align', 'resolution'])
      assert.is(await isShown(only), only === shown, `${only} after ${name} ${value}`);
  }
  assert.is(await open.page.locator('#emit button').count(), 5);
  assert.is(await open.page.locator('[data-row]').count(), 5);
  assert.ok(await open.page.locator('[name=rate]').isDisabled(), 'no rate of requests that are made by hand');
  await open.close();
});

settings('a number out of its range is brought into it', async () => {
  const open = await playground.open();
  await open.fill('processes', '99');
  assert.is(await open.page.locator('[name=processes]').inputValue(), '8');
  await open.fill('permits', '');
  assert.is(await open.page.locator('[name=permits]').inputValue(), '5');
  await open.close();
});

settings('the arrivals are those that are chosen', async () => {
  const open = await playground.open('#kind=tokenBucket&permits=50&processes=2&arrivals=steady&rate=2');
  await open.pass(3_900);
  const times = async () => (await open.marbles()).map(({ arrivedAt }) => arrivedAt);
  assert.equal((await times()).slice(-4), [3_000, 3_250, 3_500, 3_750]);
  await open.select('arrivals', 'bursts');
  await open.pass(3_900);
  assert.equal((await times()).slice(-8), [...new Array(4).fill(2_000), ...new Array(4).fill(3_000)]);
  await open.select('arrivals', 'poisson');
  await open.pass(3_000);
  const gaps = (await times()).map((at, i, all) => at - (all[i - 1] ?? 0));
  assert.ok(new Set(gaps).size > gaps.length / 2, `${gaps}`);
  await open.select('arrivals', 'hand');
  await open.pass(3_000);
  assert.equal(await times(), []);
  await open.close();
});

settings('reload and back give the same configuration', async () => {
  const open = await playground.open('#kind=fixedWindow&permits=9');
  await open.fill('interval', '3000');
  await open.select('kind', 'leakyBucket');
  await open.page.reload();
  const code = async () => (await open.code()).match(/limit = (.*);/)?.[1];
  assert.is(await code(), 'leakyBucket({ permits: 9, interval: 3_000 })');
  await open.page.goBack();
  assert.is(await code(), 'fixedWindow({ permits: 9, interval: 3_000 })');
  await open.page.goBack();
  assert.is(await code(), 'fixedWindow({ permits: 9, interval: 1_000 })');
  assert.is(await open.page.locator('[name=interval]').inputValue(), '1000');
  await open.close();
});

settings.run();

/** One permit in five seconds, and requests by hand: all but the first wait. */
const slow = '#kind=slidingWindow&permits=1&interval=5000&processes=3&arrivals=hand&pause=2000';
const states = async (open: Awaited<ReturnType<Playground['open']>>) =>
  (await open.marbles()).map(({ process, state }) => `${'ABC'[process]} ${state}`);

actions('a button of a process, and a click in its row, make a request of it', async () => {
  const open = await playground.open(slow);
  await open.click('#emit button:nth-child(2)');
  await open.page.locator('[data-row="2"]').click();
  assert.equal(await states(open), ['B granted', 'C waiting']);
  assert.is(await open.text('#announcer'), 'Request 2 of process C waits.');
  await open.close();
});

actions(
  'a click on the button cancels the oldest wait, and its permit goes to the next request',
  async () => {
    const open = await playground.open(slow);
    for (const process of [1, 2, 2, 3]) await open.click(`#emit button:nth-child(${process})`);
    await open.click('#cancel');
    assert.equal(await states(open), ['A granted', 'B cancelled', 'B waiting', 'C waiting']);
    await open.pass(5_100);
    assert.equal(await states(open), ['A granted', 'B cancelled', 'B granted', 'C waiting']);
    await open.close();
  },
);

actions('a marble that is pulled off its row is cancelled; one that is put back still waits', async () => {
  const open = await playground.open(slow);
  for (const process of [1, 2, 3]) await open.click(`#emit button:nth-child(${process})`);
  const { mouse } = open.page;
  const drag = async (id: number, dy: number) => {
    const { x, y } = await open.ringOf(id);
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(x + 20, y + dy, { steps: 3 });
    await mouse.up();
  };
  await drag(2, 12);
  assert.equal(await states(open), ['A granted', 'B waiting', 'C waiting']);
  await drag(2, -60);
  assert.equal(await states(open), ['A granted', 'B cancelled', 'C waiting']);
  await drag(3, 70);
  assert.equal(await states(open), ['A granted', 'B cancelled', 'C cancelled']);
  await open.close();
});

actions('a refund gives the last permit to the request that waits', async () => {
  const open = await playground.open(slow);
  for (let i = 0; i < 2; i++) await open.click('#emit button:nth-child(1)');
  await open.pass(200);
  await open.click('#refund');
  assert.equal(await states(open), ['A refunded', 'A granted']);
  assert.is(await open.text('#announcer'), 'Refunded the permit of Request 1 of process A.');
  await open.close();
});

actions('a pause holds all requests back, and is drawn', async () => {
  const open = await playground.open(slow);
  await open.click('#pause');
  await open.click('#emit button:nth-child(1)');
  await open.pass(1_900);
  assert.equal(await states(open), ['A waiting']);
  assert.is(await open.page.locator('.paused').count(), 1);
  await open.pass(200);
  assert.equal(await states(open), ['A granted']);
  const [{ endedAt }] = await open.marbles();
  assert.is(endedAt, 2_000);
  await open.fill('pause', '500');
  assert.equal(await states(open), ['A granted'], 'the length of the next pause starts no new run');
  await open.close();
});

actions('a request beyond the queue is rejected', async () => {
  const open = await playground.open(slow);
  await open.page.evaluate(`for (let i = 0; i < 22; i++) document.querySelector('#emit button').click()`);
  assert.is((await open.inState('waiting')).length, 20);
  assert.is((await open.inState('rejected')).length, 1);
  await open.close();
});

actions('time stops and goes on, and a run starts again', async () => {
  const open = await playground.open('#arrivals=steady&rate=4');
  await open.pass(2_000);
  const before = await open.marbles();
  assert.ok(before.length > 10);
  await open.click('#freeze');
  const frozen = await open.marbles();
  await open.pass(5_000);
  assert.equal(await open.marbles(), frozen);
  assert.is(await open.page.locator('#freeze').getAttribute('aria-pressed'), 'true');
  await open.click('#freeze');
  await open.pass(500);
  assert.ok((await open.marbles()).at(-1)!.id > frozen.at(-1)!.id);
  await open.click('#restart');
  assert.ok((await open.marbles()).every(({ id }) => id <= 3));
  await open.close();
});

actions('the code is copied, and the requests are in a table', async () => {
  const open = await playground.open('#arrivals=steady&rate=4');
  await open.click('#copy');
  assert.is(await open.page.evaluate('navigator.clipboard.readText()'), await open.code());
  await open.pass(3_000);
  await open.click('summary');
  await open.pass(300);
  assert.match(await open.text('#log'), /^[A-C]\t\d+, at \d\.\d\d s\t(granted|waiting)/);
  await open.close();
});

actions('the figures are those of the marbles', async () => {
  const open = await playground.open('#permits=4&interval=1000&processes=2&arrivals=steady&rate=3');
  await open.pass(10_000);
  assert.is(await open.text('#granted'), '40');
  assert.is(await open.text('#utilisation'), '100 %');
  assert.is(await open.text('#fairness'), '1.000');
  assert.ok(Number(await open.text('#waiting')) > 10);
  assert.match(await open.text('#mean-wait'), /^\d{4} ms$/);
  await open.close();
});

actions.after(async () => {
  await playground.close();
  assert.equal(playground.errors, []);
});
actions.run();
