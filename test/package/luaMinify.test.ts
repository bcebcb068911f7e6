import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { minify, shortNames } from '../../tools/luaMinify.mjs';

const minified = (...texts: string[]) => {
  const names = shortNames(texts);
  return texts.map((text) => minify(text, names));
};

test('drops comments and white space, and shortens variables and fields', () => {
  const text = `
    -- A comment
    local count = 1
    local entry = { count = count, at = count } -- another
    if entry.count >= 2 then return entry end`;
  assert.equal(minified(text), ['local e=1 local t={e=e,a=e}if t.e>=2 then return t end']);
});

test('two files have one name for one variable, so that they can follow each other in a script', () => {
  assert.equal(minified('local function first(value) return value end', 'return first(KEYS[1])'), [
    'local function e(t)return t end',
    'return e(KEYS[1])',
  ]);
});

test('keeps names of Redis and Lua, methods, the fields of an error, and words that are strings', () => {
  const text = `local reply = redis.pcall('GET', KEYS[1])
    local rates = { rate = math.huge, other = 0 }
    if reply.err then return reply.err:sub(1, 4) end
    return rates['rate'] + rates.other`;
  assert.equal(minified(text), [
    "local t=redis.pcall('GET',KEYS[1])local e={rate=math.huge,a=0}if t.err then return t.err:sub(1,4)end return e['rate']+e.a",
  ]);
});

test('an assignment in a function of a table is no field', () => {
  assert.equal(minified('local a, b return { run = function() a, b = 1, 2 end, b = b }'), [
    'local t,e return{a=function()t,e=1,2 end,e=e}',
  ]);
});

test('keeps apart what would be another token', () => {
  assert.equal(minified('local a = 1 .. 2 local b = a - -a local c = #a .. a'), [
    'local e=1 ..2 local t=e- -e local a=#e..e',
  ]);
});

test('a table of short names gives none twice, whatever their number', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `variable${i}`);
  const short = shortNames([names.map((name) => `local ${name}`).join('\n')]);
  assert.is(new Set(short.values()).size, names.length);
  for (const word of ['do', 'if', 'in', 'or', 'end', 'bit']) assert.not([...short.values()].includes(word));
});

test('rejects a variable that no file declares', () => {
  assert.throws(() => shortNames(['local count = 1 return coutn']), /no script declares coutn/);
});

for (const text of [
  'local a = [[ long ]]',
  'local a = [=[ long ]=]',
  '--[[ long ]] local a',
  'local a = 1 ~ 2',
  'local a = "open',
])
  test(`rejects ${text}`, () => assert.throws(() => shortNames([text]), /Lua that is not known here/));

test.run();
