import { test } from 'uvu';
import * as assert from 'uvu/assert';
import config from '../../rollup.config.mjs';
import { built } from '../package/built.ts';

const [, , types] = config({});

/** Types that only serve others: omitted fields of a declaration, or shorter messages of the compiler. */
const helpers = [
  'BaseEvent',
  'Branded',
  'Cost',
  'Line',
  'NotInferred',
  'OneLimitOptions',
  'PulledStream',
  'RequestEvent',
  'ShownLimit',
  'Suits',
  'brand',
  'storeType',
];

test('the declarations have the public names, and no internal ones', async () => {
  const { code } = await built(types);
  const declared = code.matchAll(
    /^(?:declare )?(?:abstract )?(?:class|function|interface|type|const) ([\w$]+)/gm,
  );
  const exported = [...code.matchAll(/^export (?:type )?\{(.*)\};$/gm)].flatMap(([, names]) =>
    names.trim().split(', '),
  );
  const inner = [...new Set(Array.from(declared, ([, name]) => name))].filter(
    (name) => !exported.includes(name),
  );
  assert.equal(inner.sort(), [...helpers].sort());
});

test.run();
