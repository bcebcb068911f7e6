import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { minify } from '../../tools/luaMinify.mjs';
import { shortNames } from '../../tools/luaNames.mjs';

const minified = (...texts: string[]) => {
  const names = shortNames([texts]);
  return texts.map((text) => minify(text, names));
};

test('drops comments and white space, and shortens variables and fields', () => {
  const text = `
    -- A comment
    local count = 1
    local entry = { count = count, at = count } -- another
    if entry.count >= 2 then return entry end`;
  assert.equal(minified(text), ['local e=1 local t={e=e,t=e}if t.e>=2 then return t end']);
});

test('two files have one name for one variable, so that they can follow each other in a script', () => {
  assert.equal(minified('local function first(value) return value end', 'return first(KEYS[1])'), [
    'local function e(e)return e end',
    'return e(KEYS[1])',
  ]);
});

test('keeps names of Redis and Lua, methods, the fields of an error, and words that are strings', () => {
  const text = `local reply = redis.pcall('GET', KEYS[1])
    local rates = { rate = math.huge, other = 0 }
    if reply.err then return reply.err:sub(1, 4) end
    return rates['rate'] + rates.other`;
  assert.equal(minified(text), [
    "local t=redis.pcall('GET',KEYS[1])local e={rate=math.huge,e=0}if t.err then return t.err:sub(1,4)end return e['rate']+e.e",
  ]);
});

test('an assignment in a function of a table is no field', () => {
  assert.equal(minified('local a, b return { run = function() a, b = 1, 2 end, b = b }'), [
    'local t,e return{t=function()t,e=1,2 end,e=e}',
  ]);
});

test('keeps apart what would be another token', () => {
  assert.equal(minified('local a = 1 .. 2 local b = a - -a local c = #a .. a'), [
    'local e=1 ..2 local t=e- -e local a=#e..e',
  ]);
});

test('variables share a name where neither hides the other', () => {
  const text = `
    local outer = 1
    local function sum(list)
      local total = outer
      for i, n in ipairs(list) do total = total + n * i end
      return total
    end
    local function product(first, second) return first * second end
    local product = product(sum(KEYS), sum(ARGV))`;
  assert.equal(minified(text), [
    'local a=1 local function t(t)local e=a for t,a in ipairs(t)do e=e+a*t end return e end ' +
      'local function e(e,t)return e*t end local e=e(t(KEYS),t(ARGV))',
  ]);
});

const hiding: [string, string][] = [
  // Not in force: in its own values, in the bounds of its loop, after its block.
  ['local a = 1 do local b = a end', 'local e=1 do local e=e end'],
  ['local a = 1 for b = a, a + 1 do b = 2 end', 'local e=1 for e=e,e+1 do e=2 end'],
  [
    'local a = 1 if a then local b = 1 elseif a then a = 2 end',
    'local e=1 if e then local e=1 elseif e then e=2 end',
  ],
  ['local a = 1 while a do local b = a end return a', 'local e=1 while e do local e=e end return e'],
  ['local a = 1 local c = { function(b) return b end, a }', 'local e=1 local t={function(e)return e end,e}'],
  ['local a = 1 do local b, c = a, 2 return c end', 'local e=1 do local e,e=e,2 return e end'],
  // In force: until the end of its block, in its own function, and in the functions inside.
  ['local a = 1 do local b = 1 a = b end', 'local e=1 do local t=1 e=t end'],
  ['local a = 1 repeat local b = 1 until a', 'local e=1 repeat local t=1 until e'],
  ['local a = 1 for b = 1, 2 do a = 2 end', 'local e=1 for t=1,2 do e=2 end'],
  ['local a = 1 do local function b() return a end end', 'local e=1 do local function t()return e end end'],
  [
    'local a = 1 do local b = 1 KEYS[1](function() return a end) end',
    'local e=1 do local t=1 KEYS[1](function()return e end)end',
  ],
  ['local function a(b) return a end', 'local function e(t)return e end'],
  ['local function a(b, c) return b end', 'local function e(e,t)return e end'],
];
for (const [text, expected] of hiding)
  test(`shortens ${text}`, () => assert.equal(minified(text), [expected]));

test('variables of whole chunks share a name where no script has both', () => {
  const names = shortNames([
    ['local shared = 1', 'local first = shared'],
    ['local shared = 1', 'local second = shared'],
  ]);
  assert.equal(Object.fromEntries(names.outer), { shared: 'e', first: 't', second: 't' });
});

test('a table of short names gives none twice, whatever their number', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `variable${i}`);
  const short = [...shortNames([[names.map((name) => `local ${name}`).join('\n')]]).outer.values()];
  assert.is(new Set(short).size, names.length);
  for (const word of ['do', 'if', 'in', 'or', 'end', 'bit']) assert.not(short.includes(word));
});

test('rejects a variable that no file declares', () => {
  assert.throws(() => shortNames([['local count = 1 return coutn']]), /no script declares coutn/);
});

for (const text of [
  'local a = [[ long ]]',
  'local a = [=[ long ]=]',
  '--[[ long ]] local a',
  'local a = 1 ~ 2',
  'local a = "open',
])
  test(`rejects ${text}`, () => assert.throws(() => shortNames([[text]]), /Lua that is not known here/));

test.run();
