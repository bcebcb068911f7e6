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
  assert.equal(minified(text), ['local e=1 local t={e=e,t=e}if t.e>=2 then return t end']);
});

test('two files have one name for one variable, so that they can follow each other in a script', () => {
  assert.equal(minified('local function first(value) return value end', 'return first(KEYS[1])'), [
    'local function t(e)return e end',
    'return t(KEYS[1])',
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

test('variables inside blocks share names unless they are in force together', () => {
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
    'local s=1 local function n(a)local e=s for t,o in ipairs(a)do e=e+o*t end return e end ' +
      'local function i(e,t)return e*t end local i=i(n(KEYS),n(ARGV))',
  ]);
});

test('a variable is not in force in its own values, in the bounds of its loop, or after its block', () => {
  const text = `
    local a = 1
    do local a = a end
    for a = a, a + 1 do a = a end
    repeat local a = a until a > 1
    if a then local a = a elseif a then a = 2 else local function a() return a end end
    while a do local a = { a = a, [a] = a, (a):b('c', function(a) return a end) } end
    return a`;
  assert.equal(minified(text), [
    'local t=1 do local e=t end for e=t,t+1 do e=e end repeat local e=t until e>1 ' +
      'if t then local e=t elseif t then t=2 else local function e()return e end end ' +
      "while t do local e={e=t,[t]=t,(t):b('c',function(e)return e end)}end return t",
  ]);
});

test('a table of short names gives none twice, whatever their number', () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `variable${i}`);
  const short = [...shortNames([names.map((name) => `local ${name}`).join('\n')]).outer.values()];
  assert.is(new Set(short).size, names.length);
  for (const word of ['do', 'if', 'in', 'or', 'end', 'bit']) assert.not(short.includes(word));
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
