import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { constantsOf, inlined } from '../../tools/luaConstants.mjs';

const inlinedIn = (...texts: string[]) => {
  const constants = constantsOf(texts);
  return texts.map((text) => inlined(text, constants));
};

test('numbers and strings take the places of constants, in all files', () => {
  assert.equal(
    inlinedIn(
      `local MOST, HEAD = 64, '<dd' -- A comment
      local LEAST = 0.5
      return MOST + #HEAD .. HEAD`,
      'local function half(n) return math.max(n, MOST) * LEAST end',
    ),
    ["return 64 + # '<dd' .. '<dd'", 'local function half ( n ) return math . max ( n , 64 ) * 0.5 end'],
  );
});

test('a constant between other values takes none', () => {
  assert.equal(inlinedIn('local MOST = 8 a(b, MOST, c) a(b(), MOST, c) return { b, MOST, c }, a, MOST, c'), [
    'a ( b , 8 , c ) a ( b ( ) , 8 , c ) return { b , 8 , c } , a , 8 , c',
  ]);
});

test('a constant inside a block counts like another', () => {
  assert.equal(inlinedIn('do local MOST = 8 function least(n) return n < MOST end end'), [
    'do function least ( n ) return n < 8 end end',
  ]);
});

test('negative numbers and powers of two take their places too', () => {
  assert.equal(inlinedIn('local LEFT, NEVER, MOST = -1, -2, 2 ^ 53 return 1 - LEFT - NEVER, MOST * 2'), [
    'return 1 - -1 - -2 , (2^53) * 2',
  ]);
});

for (const [what, ...texts] of [
  ['with two numbers', 'local MOST = 1 return MOST', 'local MOST = 2 return MOST'],
  ['that is assigned', 'local MOST = 1 MOST = 2 return MOST'],
  [
    'that is assigned with others',
    'local n, MOST, m = 1, 2, 3 local MOST = 1 n, MOST, m = m, n, MOST return MOST',
  ],
  ['that is computed', 'local MOST = 2 ^ 53 - 1 return MOST'],
  ['that is no number of its own', 'local MOST = 1 .. KEYS[1] return MOST'],
  ['that is a call', 'local MOST, LEAST = 1, math.max(1, 2) return MOST + LEAST'],
])
  test(`a constant ${what} stays`, () => {
    const plain = (text: string) => inlined(text, new Map());
    assert.equal(inlinedIn(...texts), texts.map(plain));
  });

test('a variable in small letters stays', () => {
  assert.equal(inlinedIn('local most = 1 return most'), ['local most = 1 return most']);
});

test.run();
