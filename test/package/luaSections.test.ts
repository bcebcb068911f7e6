import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { assemble, scripts } from '../../tools/lua.mjs';
import { sectionsOf } from '../../tools/luaSections.mjs';

const root = fileURLToPath(new URL('../../lua', import.meta.url));
const all = new Map(scripts(root).map((script) => [script, sectionsOf(script, root)]));

test('the sections of a script are its text', () => {
  for (const [script, sections] of all)
    assert.is(sections.map(({ text }) => text).join('\n'), assemble(script, root).text, script);
});

test('a section is the same in all scripts', () => {
  const texts = new Map<string, string>();
  for (const { file, text } of [...all.values()].flat()) {
    assert.is(texts.get(file) ?? text, text, file);
    texts.set(file, text);
  }
});

test('no text is in two sections, and several parts are in one', () => {
  const parts = new Map(
    [...all.keys()].flatMap((script) => assemble(script, root).parts).map((part) => [part.file, part]),
  );
  const sections = new Map([...all.values()].flat().map((section) => [section.file, section]));
  const lengthOf = (texts: Iterable<{ text: string }>) =>
    Array.from(texts, ({ text }) => text.length + 1).reduce((a, b) => a + b);
  assert.is(lengthOf(sections.values()), lengthOf(parts.values()));
  assert.ok(sections.size < parts.size / 1.5, `${sections.size} sections of ${parts.size} parts`);
});

test.run();
