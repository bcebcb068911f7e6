import axe from 'axe-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type OpenPage, Playground } from '../playground/page.ts';

const slow = '#kind=slidingWindow&permits=1&interval=5000&processes=3&arrivals=hand';
const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };
let playground: Playground;

test.before(async () => {
  playground = await Playground.start();
});
test.after(async () => {
  await playground.close();
  assert.equal(playground.errors, []);
});

/** The serious and critical findings of axe-core. */
async function seriousIn(open: OpenPage): Promise<string[]> {
  await open.page.evaluate(axe.source);
  // It waits for timers.
  await open.page.clock.resume();
  const { violations } = await open.page.evaluate<axe.AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

for (const colorScheme of ['light', 'dark'] as const)
  for (const [name, options] of Object.entries({ desk: {}, phone }))
    test(`axe finds nothing serious: ${name}, ${colorScheme}`, async () => {
      const open = await playground.open('#processes=8&permits=12', { ...options, colorScheme });
      await open.pass(12_000);
      await open.page.evaluate(`document.getElementById('cancel').click()`);
      await open.page.evaluate(`document.getElementById('refund').click()`);
      await open.pass(700);
      await open.screenshot(`${name}-${colorScheme}`);
      assert.equal(await seriousIn(open), []);
      await open.close();
    });

test('a phone of 360 pixels shows all of the page, and all controls can be touched', async () => {
  const open = await playground.open('#processes=8&kind=tokenBucket', phone);
  assert.is(await open.page.evaluate('document.documentElement.scrollWidth'), 360);
  const boxes = await open.page
    .locator('button:visible, input:visible, select:visible')
    .evaluateAll((controls) =>
      controls.map((control) => {
        const { left, right, width, height } = control.getBoundingClientRect();
        return { left, right, width, height };
      }),
    );
  assert.ok(boxes.length > 20);
  for (const { left, right, width, height } of boxes) {
    assert.ok(left >= 0 && right <= 360, `from ${left} to ${right}`);
    assert.ok(width >= 44 && height >= 44, `${width} x ${height}`);
  }
  await open.close();
});

test('touch makes a request, and pulls a waiting marble off', async () => {
  const open = await playground.open(slow, phone);
  for (const row of [0, 1]) await open.page.locator(`[data-row="${row}"]`).tap();
  assert.equal(
    (await open.marbles()).map(({ state }) => state),
    ['granted', 'waiting'],
  );
  const { x, y } = await open.ringOf(2);
  const devtools = await open.devtools();
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', dy: number) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x, y: y + dy }],
    });
  await touch('touchStart', 0);
  for (const dy of [10, 30, 55]) await touch('touchMove', dy);
  await touch('touchEnd', 55);
  assert.equal(
    (await open.marbles()).map(({ state }) => state),
    ['granted', 'cancelled'],
  );
  await open.close();
});

test('the keys make requests, choose a waiting marble, and cancel it', async () => {
  const open = await playground.open(slow);
  const focused = () =>
    open.page.evaluate<string>(
      `document.activeElement.getAttribute('aria-label') ?? document.activeElement.tagName`,
    );
  await open.press('Tab');
  assert.is(await focused(), 'svg', 'the timeline is the first stop');
  for (const key of ['1', '2', '3', '3', '9']) await open.press(key);
  assert.equal(
    (await open.marbles()).map(({ process, state }) => [process, state]),
    [
      [0, 'granted'],
      [1, 'waiting'],
      [2, 'waiting'],
      [2, 'waiting'],
    ],
  );
  await open.press('ArrowRight');
  assert.match(await focused(), /^Request 2 of process B waits/);
  await open.press('ArrowRight');
  assert.match(await focused(), /^Request 3 of process C waits/);
  await open.screenshot('focus');
  await open.press('Delete');
  assert.is(await open.text('#announcer'), 'Request 3 of process C is cancelled.');
  assert.match(await focused(), /^Request 4 of process C waits/, 'the next one is chosen');
  await open.press('ArrowLeft');
  assert.match(await focused(), /^Request 2 of process B waits/);
  await open.pass(5_100);
  assert.is(await focused(), 'svg', 'a marble that is granted gives the focus back');
  assert.is((await open.inState('granted')).length, 2);
  await open.close();
});

test('every control is reached with Tab, and shows that it has the focus', async () => {
  const open = await playground.open('#processes=2');
  const reached = new Set<string>();
  for (let i = 0; i < 25; i++) {
    await open.press('Tab');
    const [name, outline] = await open.page.evaluate<[string, string]>(`(() => {
      const e = document.activeElement;
      return [e === document.body ? 'BODY' : e.id || e.getAttribute('name') || e.textContent.trim() || e.tagName, getComputedStyle(e).outlineStyle];
    })()`);
    if (name === 'BODY') break;
    assert.is.not(outline, 'none', name);
    reached.add(name);
  }
  const wanted = ['+ A', '+ B', 'cancel', 'refund', 'pause', 'freeze', 'restart', 'copy', 'kind', 'permits'];
  for (const name of [...wanted, 'interval', 'resolution', 'processes', 'arrivals', 'rate'])
    assert.ok(reached.has(name), `${name} of ${[...reached]}`);
  await open.close();
});

test('with reduced motion, the picture moves in steps of a second, and shows each action at once', async () => {
  const open = await playground.open('#arrivals=steady&rate=5', { reducedMotion: 'reduce' });
  const moving = () =>
    open.page.evaluate<string>(`document.querySelector('.timeline [transform]').getAttribute('transform')`);
  const places = new Set<string>();
  for (let i = 0; i < 30; i++) {
    await open.page.clock.runFor(100);
    places.add(await moving());
  }
  assert.ok(places.size >= 3 && places.size <= 4, `${places.size} places in three seconds`);
  const before = (await open.marbles()).length;
  await open.click('#emit button:first-child');
  assert.ok((await open.marbles()).length > before);
  await open.close();
});

test('screen readers hear each action, and now and then a summary', async () => {
  const open = await playground.open('#arrivals=steady&rate=2&processes=1');
  await open.click('#pause');
  assert.is(await open.text('#announcer'), 'The fleet pauses for 1500 ms.');
  await open.pass(16_000);
  assert.match(
    await open.text('#announcer'),
    /^In the last 10 s: \d+ requests granted, utilisation \d+ %\. \d requests? waiting\.$/,
  );
  await open.close();
});

test.run();
