import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { draw } from '../../tools/picture/draw.ts';
import { pictures } from '../../tools/picture/pictures.ts';
import { grantsOf, limit, play, windows } from '../../tools/picture/scenario.ts';
import { themes } from '../../tools/picture/themes.ts';
import { root } from '../docs/pages.ts';

const scene = play();
const grants = grantsOf(scene);

test('the committed pictures are what `npm run picture` makes', () => {
  const made = pictures();
  assert.is(made.length, 2);
  for (const { file, svg } of made)
    assert.is(readFileSync(root + file, 'utf8'), svg, `${file}: npm run picture`);
});

test('the README shows the picture for light and dark pages', () => {
  const readme = readFileSync(`${root}README.md`, 'utf8');
  assert.match(
    readme,
    /<source media="\(prefers-color-scheme: dark\)" srcset="docs\/images\/timeline-dark\.svg">/,
  );
  assert.match(readme, /<img [^>]*src="docs\/images\/timeline-light\.svg"/);
});

test('no window of the picture sees more than the limit, and two of them see all of it', () => {
  for (const from of grants) {
    const count = grants.filter((at) => at >= from && at < from + limit.interval).length;
    assert.ok(count <= limit.permits, `${count} from ${from} ms`);
  }
  assert.equal(
    windows(scene).map(({ count }) => count),
    [3, 3],
  );
});

test('every request but the cancelled one is granted, and all three processes are', () => {
  const states = scene.marbles.map(({ state }) => state);
  assert.equal(
    states.filter((state) => state !== 'granted'),
    ['cancelled'],
  );
  assert.is(new Set(scene.marbles.map(({ process }) => process)).size, 3);
});

test('the permit of the cancelled request goes to the next request, which another process makes', () => {
  const { cancelled, reservedAt, next, marbles } = scene;
  assert.ok(cancelled.endedAt! < reservedAt, 'it is cancelled before its moment');
  assert.is(next, marbles[marbles.indexOf(cancelled) + 1]);
  assert.is(next.endedAt, reservedAt);
  assert.is.not(next.process, cancelled.process);
});

for (const [name, theme] of Object.entries(themes)) {
  const svg = draw(scene, theme);

  test(`the ${name} picture has a title and a description, and loads nothing`, () => {
    assert.match(svg, /role="img" aria-labelledby="title desc"/);
    assert.match(svg, /<title id="title">.+<\/title>/);
    assert.match(svg, /<desc id="desc">.+ 3 from 0\.10 s to 1\.10 s, 3 from 1\.10 s to 2\.10 s\..+<\/desc>/);
    assert.not.match(svg, /href|url\(|<style|<image|@import/);
  });

  test(`each grant is in the ${name} picture twice: in the lane of its process, and together`, () => {
    assert.is(svg.match(/<circle [^>]*r="11"/g)?.length, 2 * grants.length);
  });
}

test.run();
